-- How many rows took back a version of an event of these packages and pixels on these days?
-- Merges remove such rows together with what they took back.
SELECT count() AS count FROM events WHERE artifact IN (artifacts) AND date >= {start:Date} AND date < {end:Date} AND sign < 0
FORMAT JSONEachRow
