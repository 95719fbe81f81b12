-- Which events of events.sql were never removed? A condition of that query.
-- A version that was removed and is live again has such a row too: it comes from events-restored.sql.
AND (e.event_id, e.version, e.import_id) NOT IN
(
  SELECT event_id, version, import_id
  FROM events
  WHERE artifact IN (artifacts) AND date >= {start:Date} AND date < {end:Date} AND sign < 0
)
