-- Which versions of a docker package were pulled on a day?
-- An override takes one from the earlier event's package version and adds one to the later's.
CREATE TABLE IF NOT EXISTS versions
(
  package         UUID,
  date            Date,
  package_version LowCardinality(String),
  total           Int64
)
ENGINE = SummingMergeTree(total)
ORDER BY (package, date, package_version)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW IF NOT EXISTS versions_view TO versions AS
SELECT artifact AS package, date, package_version, sum(sign) AS total
FROM events
WHERE kind = 'package' AND library_type = 'docker' AND package_version != ''
GROUP BY package, date, package_version;
