-- Which events had these packages and pixels on these days, where so many versions were taken back that a set of them
-- would not fit into the memory? One row an event: the rows of each version are added up, a day at a time.
-- `{columns}` stands for those of event-columns.ts, `{values}` for any value of each column that they read.
SELECT
  {columns}
FROM
(
  SELECT
    artifact, date, event_id, version, import_id,
    {values}
  FROM events
  WHERE artifact IN (artifacts) AND date >= {start:Date} AND date < {end:Date}
  GROUP BY artifact, date, event_id, version, import_id
  HAVING sum(sign) > 0
) AS e
WHERE true
