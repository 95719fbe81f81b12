-- How many versions of events of these packages and pixels on these days were removed and are live again?
-- An override leaves none. A restored version is one until merges have swept its rows.
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
