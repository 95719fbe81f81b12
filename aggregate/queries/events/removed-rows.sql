-- How many rows remove a version of an event of these packages and pixels on these days?
-- An override adds one once it is settled.
SELECT count() AS count
FROM events
WHERE artifact IN (artifacts) AND date >= {start:Date} AND date < {end:Date} AND sign < 0
FORMAT JSONEachRow
