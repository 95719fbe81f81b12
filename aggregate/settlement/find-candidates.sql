-- Which events that these chunks wrote may be live in the wrong versions?
-- One version, live once, is right: most events end here, in one pass in the order of the table.
-- An override leaves two versions. A retracted import has every event looked at: its only version may have to go.
-- The index finds the artifacts; testing every part of it against a million event ids would cost more than reading.
INSERT INTO settlement_candidates (batch, artifact, event_id)
WITH written AS
(
  SELECT artifact, event_id
  FROM import_events
  WHERE import_id = {importId:UUID} AND version >= {fromVersion:UInt64} AND version < {toVersion:UInt64}
)
SELECT {batch:UUID}, artifact, event_id
FROM event_ids
WHERE artifact IN (SELECT DISTINCT artifact FROM written) AND (artifact, event_id) IN (written)
GROUP BY artifact, event_id
HAVING {retracted:Bool} OR count() > 1 OR sum(live) != 1
SETTINGS optimize_aggregation_in_order = 1, use_index_for_in_with_subqueries_max_values = 10000
