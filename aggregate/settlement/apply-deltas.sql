-- Remove and restore what a batch found. Every view subtracts or adds the same rows.
-- An override loses its earlier version here. The rows are ordered, so that a second run makes the same block.
-- `{columns}` stands for the stored columns of events.
INSERT INTO events ({columns})
SELECT {columns}
FROM
(
  SELECT superseded.* REPLACE (deltas.delta AS sign)
  FROM superseded_events AS superseded
  INNER JOIN
  (
    SELECT artifact, event_id, version, import_id, any(delta) AS delta
    FROM settlement_deltas
    WHERE batch = {batch:UUID}
    GROUP BY artifact, event_id, version, import_id
  ) AS deltas
  USING (artifact, event_id, version, import_id)
  WHERE (artifact, event_id) IN (SELECT artifact, event_id FROM settlement_deltas WHERE batch = {batch:UUID})
)
ORDER BY artifact, date, event_id, version, import_id
LIMIT 1 BY artifact, event_id, version, import_id
