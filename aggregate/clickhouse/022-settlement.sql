-- Which versions must settlement remove or restore, so that the latest version of each event is live, once?
-- An override leaves its earlier version to remove; a retraction leaves that version to restore.
-- A batch notes the events that may be wrong, then their versions that are, and inserts their rows into events, with the
-- other sign and with its id as deduplication token. Each stage may be cut short and run again.
CREATE {new_table(settlement_candidates)}
(
  batch    UUID,
  artifact UUID,
  event_id UInt128,
  created  DateTime DEFAULT now()
)
ENGINE = {plain}
ORDER BY (batch, artifact, event_id)
TTL created + INTERVAL 1 DAY;

CREATE {new_table(settlement_deltas)}
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
ENGINE = {plain}
ORDER BY (batch, artifact, date, event_id)
TTL created + INTERVAL 30 DAY;

-- Versions that were removed, because merges swept them from events once. 060-events-by-day.sql moves them back there.
CREATE {new_table(superseded_events)} AS events
ENGINE = {replacing}
PARTITION BY tuple()
PRIMARY KEY (artifact, event_id)
ORDER BY (artifact, event_id, version, import_id);
