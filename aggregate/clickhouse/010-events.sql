-- What happened? A version of an event is a row, and a version that was removed has one more, with sign -1.
--
-- An override is a row of its own with the same event_id and a later version; settlement then removes the earlier one:
-- it inserts that row again with sign -1. Every view adds up signs, in any order. Neither row is ever swept, so a version
-- can be restored: its row is inserted once more. 060-events-by-day.sql gives the table its engine and order.
--
-- event_id is computed here, so that every writer gets the same id for the same key; unique_key itself is not kept.
-- version is (receipt of the chunk in ms) * 2^20 + (line within the chunk): later receipt wins, then later line.
-- The deduplication window counts parts, and an insert makes one for each month that its events fall into: it has
-- to reach back as far in inserts as those of the views, which make one part each.
CREATE {new_table(events)}
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
  cloud_provider_domain LowCardinality(String)
)
ENGINE = {summing(sign)}
PARTITION BY toYYYYMM(date)
PRIMARY KEY (artifact, date, event_id)
ORDER BY (artifact, date, event_id, version, import_id)
SETTINGS {deduplication(100000)};
