-- How many versions of events of these packages and pixels on these days were removed and are live all the same?
-- An override leaves none. Retracting it restores the version before, and a version that was written twice and
-- removed once is one too.
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
