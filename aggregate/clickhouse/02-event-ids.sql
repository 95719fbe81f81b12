-- Which versions of an event are live, and how many times? The index that settlement reads.
-- An override is a second version with live > 0, until settlement removes the earlier one. That one stays, with live 0:
-- `rows` is how many rows of events there are of a version, so it is never 0, and sums keep the version.
CREATE TABLE IF NOT EXISTS event_ids
(
  artifact  UUID,
  event_id  UInt128,
  version   UInt64,
  import_id UUID,
  date      Date,
  live      Int32,
  rows      Int32 DEFAULT 1
)
ENGINE = SummingMergeTree((live, rows))
PRIMARY KEY (artifact, event_id)
ORDER BY (artifact, event_id, version, import_id, date)
SETTINGS {deduplication(10000)}, merge_selector_base = 10;

CREATE MATERIALIZED VIEW IF NOT EXISTS event_ids_view TO event_ids AS
SELECT artifact, event_id, version, import_id, date, sign AS live
FROM events;
