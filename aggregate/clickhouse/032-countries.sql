-- From which countries was a package downloaded on a day?
-- An override takes one from the earlier version's country and adds one to the later's.
CREATE TABLE IF NOT EXISTS countries
(
  package UUID,
  date    Date,
  country LowCardinality(String),
  total   Int64
)
ENGINE = SummingMergeTree(total)
ORDER BY (package, date, country)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW IF NOT EXISTS countries_view TO countries AS
SELECT artifact AS package, date, country, sum(sign) AS total
FROM events
WHERE kind = 'package' AND country != ''
GROUP BY package, date, country;
