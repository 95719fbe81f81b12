-- How many rows took back a version of an event of these packages and pixels on these days, and did one do so of a version
-- that is live? Merges remove such rows together with what they took back.
-- An override leaves one until then. A version that was brought back has one, too, and is live.
SELECT
  (
    SELECT count() FROM events WHERE artifact IN (artifacts) AND date >= {start:Date} AND date < {end:Date} AND sign < 0
  ) AS rows,
  (
    SELECT count()
    FROM
    (
      SELECT event_id
      FROM events
      WHERE rows BETWEEN 1 AND {rowsMax:UInt64} AND artifact IN (artifacts) AND date >= {start:Date} AND date < {end:Date}
        AND (artifact, event_id) IN
        (
          SELECT artifact, event_id
          FROM events
          WHERE artifact IN (artifacts) AND date >= {start:Date} AND date < {end:Date} AND sign < 0
        )
      GROUP BY artifact, event_id, version, import_id
      HAVING sum(sign) > 0 AND countIf(sign < 0) > 0
    )
  ) AS live
FORMAT JSONEachRow
