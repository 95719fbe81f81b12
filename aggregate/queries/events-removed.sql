-- Which events of events.sql were not taken back? A condition of that query, for where each event has one live version.
-- An override's earlier version is among what was taken back.
AND (e.event_id, e.version, e.import_id) NOT IN
(
  SELECT event_id, version, import_id
  FROM events
  WHERE artifact IN (artifacts) AND date >= {start:Date} AND date < {end:Date} AND sign < 0
)
