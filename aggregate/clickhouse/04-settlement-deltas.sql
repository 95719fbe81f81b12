-- Which versions must settlement remove or restore, so that the latest version of each event is live, once?
-- An override leaves its earlier version to remove; a retraction leaves that version to restore.
-- A batch notes the versions that are wrong, then inserts their rows into events, with the other sign and with its id as
-- deduplication token. Each stage may be cut short and run again.
CREATE TABLE IF NOT EXISTS settlement_deltas
(
  batch     UUID,
  artifact  UUID,
  date      Date,
  event_id  UInt128,
  version   UInt64,
  import_id UUID,
  delta     Int32,
  created   DateTime DEFAULT now()
)
ENGINE = MergeTree
ORDER BY (batch, artifact, date, event_id)
TTL created + INTERVAL 30 DAY;
