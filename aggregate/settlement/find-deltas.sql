-- Which versions of the events that these chunks wrote are live more or fewer times than they should be?
-- The latest version that is not retracted must be live exactly once, and every other version not at all.
-- An override leaves two versions live; its retraction leaves none live and the earlier one to restore. event_ids has
-- every version that was ever received, because merges never sweep a row of it.
-- One version, live once, is right: most events are new and end at `doubtful`. Events are told apart by 32 bits of their ids
-- first, because a set of whole ids takes four times as long. Those that only share these bits with a doubtful one are looked
-- at too, and found right. Few events are looked up in the index: see find-few-deltas.sql.
-- Of a retracted import every event is doubtful: its only version may have to go.
-- Each mention of `written` and `doubtful` is read anew. Where no version was ever erased, ClickHouse leaves those out that
-- look for erased ones.
-- `{deltas}` stands for the table of the server that runs this; the others may have the rows of several shards.
INSERT INTO {deltas} (batch, artifact, event_id, version, import_id, date, delta)
WITH
  written AS
  (
    SELECT artifact, toUInt32(event_id) AS id
    FROM import_events
    WHERE import_id IN {imports:Array(UUID)} AND version >= {fromVersion:UInt64} AND version < {toVersion:UInt64}
      AND (import_id, intDiv(version, {linesInChunk:UInt64})) IN
        (SELECT arrayJoin(arrayZip({imports:Array(UUID)}, {stamps:Array(UInt64)})))
  ),
  doubtful AS
  (
    SELECT toUInt32(event_id) AS id
    FROM event_ids
    WHERE artifact IN (SELECT artifact FROM written) AND toUInt32(event_id) IN (SELECT id FROM written)
    GROUP BY id
    HAVING {retracted:Bool} OR count() > 1 OR sum(live) != 1
  )
SELECT {batch:UUID}, artifact, event_id, version, import_id, date, wanted - live AS delta
FROM
(
  SELECT *, toInt32(rank != 0 AND rank = max(rank) OVER (PARTITION BY artifact, event_id)) AS wanted
  FROM
  (
    SELECT
      artifact,
      event_id,
      version,
      import_id,
      any(date) AS date,
      toInt32(sum(live)) AS live,
      -- The pair (version, import_id) as one number, which compares five times as fast; 0 where the import was retracted or the version erased.
      if(import_id IN (SELECT import_id FROM retracted_imports) OR
        (SELECT count() > 0 FROM erased_versions) AND (artifact, event_id, version, import_id) IN
        (
          SELECT artifact, event_id, version, import_id FROM erased_versions
          WHERE artifact IN (SELECT artifact FROM written) AND toUInt32(event_id) IN (SELECT id FROM doubtful)
        ), toUInt256(0),
        bitOr(bitShiftLeft(toUInt256(version), 128), toUInt256(reinterpretAsUInt128(import_id)))) AS rank
    FROM event_ids
    WHERE artifact IN (SELECT artifact FROM written) AND toUInt32(event_id) IN (SELECT id FROM doubtful)
    GROUP BY artifact, event_id, version, import_id
  )
)
WHERE delta != 0
