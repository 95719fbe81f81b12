-- What must be taken back or brought back, so that of all versions of an event the latest is live, once?
-- Settlement notes the events that may differ, per batch, then what differs, then copies the rows it will take back to
-- superseded_events, then inserts them into events with the batch as deduplication token. Each stage may be cut short
-- and run again.
CREATE TABLE IF NOT EXISTS settlement_candidates
(
  batch    UUID,
  artifact UUID,
  event_id UInt128,
  created  DateTime DEFAULT now()
)
ENGINE = MergeTree
ORDER BY (batch, artifact, event_id)
TTL created + INTERVAL 1 DAY;

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

-- Versions that were taken back: an override may itself be retracted, and then the one before it is live again.
CREATE TABLE IF NOT EXISTS superseded_events AS events
ENGINE = ReplacingMergeTree
PARTITION BY tuple()
PRIMARY KEY (artifact, event_id)
ORDER BY (artifact, event_id, version, import_id);
