-- Remove and restore what a batch found. Every view subtracts or adds the same rows.
-- An override loses its earlier version here: its row is inserted again with sign -1. Restoring inserts it with sign 1.
-- A second run makes the same rows, in one block, because the rows of the first run have the same contents. Their order
-- does not matter to the token that drops them, and sorting so wide rows takes longer than all the rest.
-- The index of versions leaves out the parts of a day that other imports wrote. The other rows are told apart by 32 bits of
-- their ids first, because a set of whole ids takes four times as long.
-- `{columns}` stands for the stored columns of events.
INSERT INTO events ({columns})
WITH deltas AS
(
  SELECT artifact, date, event_id, version, import_id, delta FROM settlement_deltas WHERE batch = {batch:UUID}
)
SELECT {columns}
FROM
(
  SELECT stored.* REPLACE (deltas.delta AS sign)
  FROM
  (
    SELECT {columns}
    FROM events
    PREWHERE artifact IN (SELECT artifact FROM deltas) AND date IN (SELECT date FROM deltas)
      AND toUInt32(event_id) IN (SELECT toUInt32(event_id) FROM deltas)
    WHERE sign > 0 AND version IN (SELECT version FROM deltas)
    LIMIT 1 BY artifact, event_id, version, import_id
  ) AS stored
  ANY INNER JOIN deltas USING (artifact, date, event_id, version, import_id)
)
