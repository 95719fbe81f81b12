-- How many versions of events of these packages and pixels on these days were taken back and are live?
-- An override leaves none. A version that was brought back is one until merges have removed its rows.
SELECT count() AS count
FROM
(
  SELECT event_id
  FROM events
  WHERE artifact IN (artifacts) AND date >= {start:Date} AND date < {end:Date} AND (artifact, event_id) IN
    (
      SELECT artifact, event_id
      FROM events
      WHERE artifact IN (artifacts) AND date >= {start:Date} AND date < {end:Date} AND sign < 0
    )
  GROUP BY artifact, event_id, version, import_id
  HAVING sum(sign) > 0 AND countIf(sign < 0) > 0
)
FORMAT JSONEachRow
