-- How many downloads had a package on a day?
-- An override moves one from the day of the earlier version to that of the later; the same day stays as it was.
CREATE TABLE IF NOT EXISTS totals
(
  package UUID,
  date    Date,
  total   Int64
)
ENGINE = SummingMergeTree(total)
ORDER BY (package, date)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW IF NOT EXISTS totals_view TO totals AS
SELECT artifact AS package, date, sum(sign) AS total
FROM events
WHERE kind = 'package'
GROUP BY package, date;
