-- From which cloud providers was a package downloaded on a day?
-- An override takes one from the earlier version's provider and adds one to the later's.
CREATE TABLE IF NOT EXISTS cloud_providers
(
  package               UUID,
  date                  Date,
  cloud_provider        LowCardinality(String),
  cloud_provider_domain LowCardinality(String),
  total                 Int64
)
ENGINE = SummingMergeTree(total)
ORDER BY (package, date, cloud_provider, cloud_provider_domain)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW IF NOT EXISTS cloud_providers_view TO cloud_providers AS
SELECT artifact AS package, date, cloud_provider, cloud_provider_domain, sum(sign) AS total
FROM events
WHERE kind = 'package' AND cloud_provider != ''
GROUP BY package, date, cloud_provider, cloud_provider_domain;
