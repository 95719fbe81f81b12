-- Which events of events.sql were not removed? A condition of that query.
-- Valid only if no removed version was restored (see removed-live.sql).
-- An override's earlier version is among the removed ones.
AND (e.event_id, e.version, e.import_id) NOT IN
(
  SELECT event_id, version, import_id
  FROM events
  WHERE artifact IN (artifacts) AND date >= {start:Date} AND date < {end:Date} AND sign < 0
)
