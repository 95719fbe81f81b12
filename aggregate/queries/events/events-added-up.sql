-- Which events had these packages and pixels on these days, where so many versions were removed that a set of them
-- would not fit into the memory? One row an event: the rows of each version are added up, a day at a time.
-- `{columns}` stands for those of event-columns.ts, `{values}` for the columns of events that they read.
SELECT
  {columns}
FROM
(
  SELECT
    artifact, date, event_id, version, import_id,
    sum(sign) OVER (PARTITION BY artifact, date, event_id, version, import_id) AS live,
    row_number() OVER (PARTITION BY artifact, date, event_id, version, import_id) AS nth,
    {values}
  FROM events
  WHERE artifact IN (artifacts) AND date >= {start:Date} AND date < {end:Date}
) AS e
WHERE e.live > 0 AND e.nth = 1
