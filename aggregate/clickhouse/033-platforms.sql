-- On which platforms was a package downloaded on a day?
-- An override takes one from the earlier version's platform and adds one to the later's.
CREATE TABLE IF NOT EXISTS platforms
(
  package  UUID,
  date     Date,
  platform LowCardinality(String),
  total    Int64
)
ENGINE = SummingMergeTree(total)
ORDER BY (package, date, platform)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW IF NOT EXISTS platforms_view TO platforms AS
SELECT artifact AS package, date, platform, sum(sign) AS total
FROM events
WHERE kind = 'package' AND platform != ''
GROUP BY package, date, platform;
