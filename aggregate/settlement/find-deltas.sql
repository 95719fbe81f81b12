-- Which versions of some events are live more or fewer times than they should be? `{written}` stands for the SELECT of the
-- artifacts and ids of the events.
-- The latest version that is not retracted must be live exactly once, and every other version not at all.
-- An override leaves two versions live; its retraction leaves none live and the earlier one to restore. event_ids has
-- every version that was ever received, because merges never sweep a row of it.
-- `{narrowed}` stands for the condition by which the rows of these events are found: few events are looked up in the index,
-- many by events-to-settle.sql. It may find other events as well, which are right, but then all of their versions.
-- Where no version was ever erased, ClickHouse leaves out the look at erased ones: a quarter of the time for few events.
-- `{deltas}` stands for the table of the server that runs this; the others may have the rows of several shards.
INSERT INTO {deltas} (batch, artifact, event_id, version, import_id, date, delta)
WITH written AS
(
{written}
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
          {narrowed}
        ), toUInt256(0),
        bitOr(bitShiftLeft(toUInt256(version), 128), toUInt256(reinterpretAsUInt128(import_id)))) AS rank
    FROM event_ids
    {narrowed}
    GROUP BY artifact, event_id, version, import_id
  )
)
WHERE delta != 0
