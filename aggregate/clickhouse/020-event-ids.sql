-- Which versions of an event are live, and how many times? The index that settlement reads.
-- An override is a second version with live > 0, until settlement takes the earlier one back.
CREATE TABLE IF NOT EXISTS event_ids
(
  artifact  UUID,
  event_id  UInt128,
  version   UInt64,
  import_id UUID,
  date      Date,
  live      Int32
)
ENGINE = SummingMergeTree(live)
PRIMARY KEY (artifact, event_id)
ORDER BY (artifact, event_id, version, import_id, date)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW IF NOT EXISTS event_ids_view TO event_ids AS
SELECT artifact, event_id, version, import_id, date, sign AS live
FROM events;
