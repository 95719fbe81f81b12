-- How many rows removed a version of an event of these packages and pixels on these days?
-- An override adds one once it is settled. Merges sweep such rows together with the rows that they removed.
SELECT count() AS count
FROM events
WHERE artifact IN (artifacts) AND date >= {start:Date} AND date < {end:Date} AND sign < 0
FORMAT JSONEachRow
