-- What did the versions look like that a batch will remove?
-- An override's earlier version is kept here before it goes, so that retracting the override can restore it.
-- `{columns}` stands for the stored columns of events.
INSERT INTO superseded_events ({columns})
SELECT {columns}
FROM events
PREWHERE (artifact, date, event_id, version, import_id) IN
(
  SELECT artifact, date, event_id, version, import_id FROM settlement_deltas WHERE batch = {batch:UUID} AND delta < 0
)
WHERE sign > 0
LIMIT 1 BY artifact, event_id, version, import_id
