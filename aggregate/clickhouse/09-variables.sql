-- Which values of custom variables did the downloads of a day have? An event counts once for each of its variables.
-- The other breakdowns by values have no file: read-migrations.ts makes their tables and views from the list of them.
CREATE TABLE IF NOT EXISTS variables
(
  package         UUID,
  date            Date,
  variable        LowCardinality(String),
  value           String,
  total           Int64,
  automated_total Int64
)
ENGINE = SummingMergeTree((total, automated_total))
ORDER BY (package, date, variable, value)
SETTINGS {deduplication(10000)};

CREATE MATERIALIZED VIEW IF NOT EXISTS variables_view TO variables AS
SELECT artifact AS package, date, variable, value, sum(sign) AS total, sumIf(sign, automated != '') AS automated_total
FROM events
ARRAY JOIN mapKeys(variables) AS variable, mapValues(variables) AS value
WHERE kind = 'package' AND library_type = 'other'
GROUP BY package, date, variable, value;
