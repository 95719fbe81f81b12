-- How often was a package downloaded on a day, and how often by bots, continuous integration and mirrors?
-- An override takes one from the day of the earlier version and adds one to that of the later.
CREATE TABLE IF NOT EXISTS totals
(
  package         UUID,
  date            Date,
  total           Int64,
  automated_total Int64
)
ENGINE = SummingMergeTree((total, automated_total))
ORDER BY (package, date)
SETTINGS {deduplication(10000)};

CREATE MATERIALIZED VIEW IF NOT EXISTS totals_view TO totals AS
SELECT artifact AS package, date, sum(sign) AS total, sumIf(sign, automated != '') AS automated_total
FROM events
WHERE kind = 'package'
GROUP BY package, date;
