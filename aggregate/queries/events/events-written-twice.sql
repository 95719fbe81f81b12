-- Which versions of imports that are not settled may have been written twice? An alternative of events-restored.sql, which
-- shows each once; events.sql leaves them out.
OR e.import_id IN {unsettled:Array(UUID)} AND e.version >= {unsettledFrom:UInt64}
  AND (e.event_id, e.version, e.import_id) NOT IN
  (
    SELECT event_id, version, import_id
    FROM events
    WHERE artifact IN (artifacts) AND date >= {start:Date} AND date < {end:Date} AND sign < 0
  )
