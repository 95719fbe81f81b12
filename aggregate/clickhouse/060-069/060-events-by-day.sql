-- What happened on a day? Moves the rows of events, a month at a time, to a table whose merges cost a fifth.
-- An override's earlier version stays: its row with sign 1 and the one with sign -1 that removes it are both kept. Reads
-- leave such a pair out, and a retraction inserts the version once more. superseded_events is no longer needed.
-- Nothing may write meanwhile. What tries to finds no table `events`, and tries again until this is through.
CREATE {new_table(events_by_day)}
(
  artifact              UUID,
  kind                  Enum8('package' = 1, 'pixel' = 2),
  library_type          LowCardinality(String),
  time                  DateTime64(3, 'UTC'),
  date                  Date DEFAULT toDate(time, 'UTC'),
  unique_key            String EPHEMERAL,
  event_id              UInt128 DEFAULT reinterpretAsUInt128(sipHash128(artifact, unique_key)),
  version               UInt64,
  import_id             UUID,
  sign                  Int32,
  type                  LowCardinality(String),
  package_version       LowCardinality(String),
  domain                LowCardinality(String),
  referer               LowCardinality(String),
  user_agent            LowCardinality(String),
  variables             Map(String, String),
  client                LowCardinality(String),
  client_version        LowCardinality(String),
  platform              LowCardinality(String),
  origin_id             FixedString(16),
  endpoint_id           FixedString(16),
  latitude              Float32,
  longitude             Float32,
  country               LowCardinality(String),
  state                 LowCardinality(String),
  city                  LowCardinality(String),
  postal                LowCardinality(String),
  company               LowCardinality(String),
  company_domain        LowCardinality(String),
  connection_type       LowCardinality(String),
  cloud_provider        LowCardinality(String),
  cloud_provider_domain LowCardinality(String),
  -- Rows of a day stay in the order in which they came. So those of an import lie together, and those with sign -1.
  INDEX by_version version TYPE minmax GRANULARITY 1,
  INDEX by_sign sign TYPE minmax GRANULARITY 1
)
ENGINE = {plain}
PARTITION BY toYYYYMM(date)
ORDER BY (artifact, date)
SETTINGS {deduplication(100000)};

-- `rows` is how many rows of events there are of a version, so it is never 0: sums keep a version that is not live.
CREATE {new_table(event_ids_by_version)}
(
  artifact  UUID,
  event_id  UInt128,
  version   UInt64,
  import_id UUID,
  date      Date,
  live      Int32,
  rows      Int32 DEFAULT 1
)
ENGINE = {summing(live, rows)}
PRIMARY KEY (artifact, event_id)
ORDER BY (artifact, event_id, version, import_id, date)
SETTINGS {deduplication(10000)};

-- The months that are wholly in events_by_day.
CREATE {new_table(events_by_day_months)}
(
  month UInt32
)
ENGINE = {plain}
ORDER BY month;

-- The views that read from events.
CREATE {new_table(events_by_day_views)}
(
  name String
)
ENGINE = {plain}
ORDER BY name;

{step(move_events_by_day)};

DROP TABLE IF EXISTS superseded_events SYNC;

DROP TABLE IF EXISTS events_by_day SYNC;

DROP TABLE IF EXISTS event_ids_by_version SYNC;

DROP TABLE IF EXISTS events_by_day_months SYNC;

DROP TABLE IF EXISTS events_by_day_views SYNC;

DROP TABLE IF EXISTS settlement_candidates SYNC;
