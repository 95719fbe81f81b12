-- What has an import written? The work list of settlement (by chunk: version div 2^20) and of retraction.
-- An override changes nothing here: both versions were written.
CREATE TABLE IF NOT EXISTS import_events
(
  import_id UUID,
  version   UInt64,
  artifact  UUID,
  event_id  UInt128
)
ENGINE = ReplacingMergeTree
ORDER BY (import_id, version, artifact, event_id)
SETTINGS {deduplication(10000)}, merge_selector_base = 10;

CREATE MATERIALIZED VIEW IF NOT EXISTS import_events_view TO import_events AS
SELECT import_id, version, artifact, event_id
FROM events
WHERE sign > 0 AND import_id != toUUID('00000000-0000-0000-0000-000000000000');
