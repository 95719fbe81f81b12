-- Which events will these packages and pixels have had in the two ranges, once the imports `unsettled` are settled?
-- Events that these imports wrote to (their versions from `unsettledFrom` on) are left out of the sums. Each of them comes
-- once instead, in its latest version that is not retracted: an override shows at once, and so does what a retraction
-- brings back. The row by which settlement removes a version does not matter here.
-- Events are told apart by 32 bits of their ids, because a set of whole ids takes four times as long. Events that only share
-- these bits come from the second part as well, and are counted the same.
-- `{columns}` stands for the columns that are read, `{conditions}` for those of the filters.
SELECT {columns}, sign
FROM events
WHERE artifact IN (artifacts)
  AND (date >= {start:Date} AND date < {end:Date} OR date >= {beforeStart:Date} AND date < {beforeEnd:Date})
  {conditions}
  AND (import_id NOT IN {unsettled:Array(UUID)} OR version < {unsettledFrom:UInt64})
  AND toUInt32(event_id) NOT IN
  (
    SELECT toUInt32(event_id)
    FROM import_events
    WHERE import_id IN {unsettled:Array(UUID)} AND version >= {unsettledFrom:UInt64} AND artifact IN (artifacts)
  )
UNION ALL
SELECT {columns}, toInt32(1) AS sign
FROM
(
  SELECT *
  FROM events
  WHERE artifact IN (artifacts)
    AND (date >= {start:Date} AND date < {end:Date} OR date >= {beforeStart:Date} AND date < {beforeEnd:Date})
    {conditions}
    AND sign > 0
    AND (event_id, version, import_id) IN
    (
      SELECT event_id, tupleElement(max((version, import_id)) AS latest, 1), tupleElement(latest, 2)
      FROM event_ids
      WHERE artifact IN (artifacts) AND import_id NOT IN {retracted:Array(UUID)}
        AND import_id NOT IN (SELECT import_id FROM retracted_imports)
        AND toUInt32(event_id) IN
        (
          SELECT toUInt32(event_id)
          FROM import_events
          WHERE import_id IN {unsettled:Array(UUID)} AND version >= {unsettledFrom:UInt64} AND artifact IN (artifacts)
        )
      GROUP BY artifact, event_id
    )
  LIMIT 1 BY artifact, event_id, version, import_id
)
