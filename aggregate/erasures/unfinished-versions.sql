-- Is a version of an erasure live, by the rows of events or by event_ids? Once it is settled it is live by neither. A batch
-- that is being written, or was cut short, lies in one of them and not yet in the other: the rows of events must stay until
-- it is whole.
WITH noted AS
(
  SELECT artifact, event_id, version, import_id, date FROM erased_versions WHERE erasure = {erasure:UUID}
)
SELECT 1
FROM events
WHERE artifact IN (SELECT artifact FROM noted) AND date IN (SELECT date FROM noted)
  AND (artifact, event_id, version, import_id) IN (SELECT artifact, event_id, version, import_id FROM noted)
GROUP BY artifact, event_id, version, import_id
HAVING sum(sign) != 0
LIMIT 1
UNION ALL
SELECT 1
FROM event_ids
WHERE (artifact, event_id) IN (SELECT artifact, event_id FROM noted)
  AND (artifact, event_id, version, import_id) IN (SELECT artifact, event_id, version, import_id FROM noted)
GROUP BY artifact, event_id, version, import_id
HAVING sum(live) != 0
LIMIT 1
