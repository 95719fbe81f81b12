-- Which versions of the events that these chunks wrote are live more or fewer times than they should be?
-- The latest version that is not retracted must be live exactly once, and every other version not at all.
-- An override leaves two versions live; its retraction leaves none live and the earlier one to restore. event_ids has
-- every version that was ever received, because merges never sweep a row of it.
-- One version, live once, is right: most events are new and end at `doubtful`. `{id}` stands for event_id where there are
-- few, so that the index finds them, and else for 32 bits of it, because a set of whole ids takes four times as long. Events
-- that only share these bits with a doubtful one are looked at too, and found right.
-- Of a retracted import every event is doubtful: its only version may have to go.
INSERT INTO settlement_deltas (batch, artifact, event_id, version, import_id, date, delta)
WITH
  written AS
  (
    SELECT artifact, {id} AS id
    FROM import_events
    WHERE import_id IN {imports:Array(UUID)} AND version >= {fromVersion:UInt64} AND version < {toVersion:UInt64}
      AND (import_id, intDiv(version, {linesInChunk:UInt64})) IN
        (SELECT arrayJoin(arrayZip({imports:Array(UUID)}, {stamps:Array(UInt64)})))
  ),
  doubtful AS
  (
    SELECT {id} AS id
    FROM event_ids
    WHERE artifact IN (SELECT artifact FROM written) AND {id} IN (SELECT id FROM written)
    GROUP BY id
    HAVING {retracted:Bool} OR count() > 1 OR sum(live) != 1
  )
SELECT {batch:UUID}, artifact, event_id, found.1, found.2, found.3, found.4
FROM
(
  SELECT
    artifact,
    event_id,
    maxIf((version, import_id), NOT retracted) AS latest,
    groupArray((version, import_id, date, live, retracted)) AS versions,
    arrayFilter(
      d -> d.4 != 0,
      arrayMap(
        v -> (v.1, v.2, v.3, toInt32(if(NOT v.5 AND (v.1, v.2) = latest, 1, 0)) - v.4),
        versions)) AS found_all
  FROM
  (
    SELECT
      artifact,
      event_id,
      version,
      import_id,
      any(date) AS date,
      toInt32(sum(live)) AS live,
      import_id IN (SELECT import_id FROM retracted_imports) AS retracted
    FROM event_ids
    WHERE artifact IN (SELECT artifact FROM written) AND {id} IN (SELECT id FROM doubtful)
    GROUP BY artifact, event_id, version, import_id
  )
  GROUP BY artifact, event_id
  HAVING notEmpty(found_all)
)
ARRAY JOIN found_all AS found
