-- Which events of these packages and pixels are live in a version with several rows? One row an event; the query is added
-- to events.sql, and `{columns}` stands for the same.
-- A version is restored when its override is retracted: it has a row that removes it, and is live all the same.
-- `{unsettled}` adds the versions that are not settled yet, because they may have been written twice.
UNION ALL
SELECT
  {columns}
FROM
(
  SELECT *
  FROM events AS e
  WHERE e.artifact IN (artifacts) AND e.date >= {start:Date} AND e.date < {end:Date} AND e.sign > 0
    AND
    (
      (e.event_id, e.version, e.import_id) IN
      (
        SELECT event_id, version, import_id
        FROM events
        WHERE artifact IN (artifacts) AND date >= {start:Date} AND date < {end:Date} AND event_id IN
          (
            SELECT event_id
            FROM events
            WHERE artifact IN (artifacts) AND date >= {start:Date} AND date < {end:Date} AND sign < 0
          )
        GROUP BY event_id, version, import_id
        HAVING sum(sign) > 0 AND countIf(sign < 0) > 0
      )
      {unsettled}
    )
  LIMIT 1 BY e.artifact, e.event_id, e.version, e.import_id
) AS e
WHERE true
