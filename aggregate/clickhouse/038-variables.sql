-- With which values of which custom variables was a file package downloaded on a day?
-- An override takes one from each variable of the earlier version and adds one to each of the later's.
CREATE TABLE IF NOT EXISTS variables
(
  package  UUID,
  date     Date,
  variable LowCardinality(String),
  value    String,
  total    Int64
)
ENGINE = SummingMergeTree(total)
ORDER BY (package, date, variable, value)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW IF NOT EXISTS variables_view TO variables AS
SELECT artifact AS package, date, variable, value, sum(sign) AS total
FROM events
ARRAY JOIN mapKeys(variables) AS variable, mapValues(variables) AS value
WHERE kind = 'package' AND library_type = 'other'
GROUP BY package, date, variable, value;
