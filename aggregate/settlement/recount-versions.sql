-- Which of these versions does event_ids count more or fewer times than there are rows of events, and by how much?
-- `{versions}` stands for the SELECT that names the versions. Removed days stay in event_ids as they are. An erased version
-- without rows of events is not live, but its rows stay: they keep it known.
WITH versions AS
(
{versions}
)
SELECT artifact, event_id, version, import_id, date, sum(counted.live) AS missing_live,
  if(max(counted.rows) > 0 OR (artifact, event_id, version, import_id) NOT IN
  (
    SELECT artifact, event_id, version, import_id FROM erased_versions WHERE artifact IN (SELECT artifact FROM versions)
  ), sum(counted.rows), 0) AS missing_rows
FROM
(
  SELECT artifact, event_id, version, import_id, date, sum(sign) AS live, toInt64(count()) AS rows
  FROM events
  PREWHERE version IN (SELECT version FROM versions) AND (artifact, date) IN (SELECT artifact, date FROM versions)
  GROUP BY artifact, event_id, version, import_id, date
  UNION ALL
  SELECT artifact, event_id, version, import_id, date, -sum(live) AS live, -sum(rows) AS rows
  FROM event_ids
  WHERE (artifact, event_id) IN (SELECT artifact, event_id FROM versions)
  GROUP BY artifact, event_id, version, import_id, date
) AS counted
WHERE date >= {from:Date} AND (artifact, event_id, version, import_id) IN
    (SELECT artifact, event_id, version, import_id FROM versions)
GROUP BY artifact, event_id, version, import_id, date
HAVING missing_live != 0 OR missing_rows != 0
