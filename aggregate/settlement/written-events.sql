-- Which events did these chunks write? An override is written as the event that it overrides.
-- The range of versions first: it leaves out the most rows by one small column.
SELECT artifact, event_id
FROM import_events
PREWHERE version >= {fromVersion:UInt64} AND version < {toVersion:UInt64}
WHERE import_id IN {imports:Array(UUID)} AND (import_id, intDiv(version, {linesInChunk:UInt64})) IN
    (SELECT arrayJoin(arrayZip({imports:Array(UUID)}, {stamps:Array(UInt64)})))
