-- What happened? A version of an event is a row, and a version that was removed has one more, with sign -1.
--
-- An override is a row of its own with the same event_id and a later version; settlement then removes the earlier one:
-- it inserts that row again with sign -1. Every view adds up signs, in any order. Neither row is ever swept, so a version
-- can be restored: its row is inserted once more. Reads leave such pairs out.
--
-- event_id is computed here, so that every writer gets the same id for the same key; unique_key itself is not kept.
-- version is (receipt of the chunk in ms) * 2^20 + (line within the chunk): later receipt wins, then later line.
-- The deduplication window counts parts, and an insert makes one for each partition that its events fall into: it has to
-- reach back as far in inserts as those of the views, which make one part each. Days before 2025 lie together by decade:
-- lines of all months since 1970 would make 680 parts, and a hundred thousand of such keep ClickHouse busy for minutes.
--
-- ClickHouse merges parts once they make one that is five times as large as the largest of them: ten times here and in the
-- other tables with about a row an event. Measured with inserts of 50,000 events: 4.2 rows merged an event in place of
-- 6.9, and eleven parts in place of four.
CREATE TABLE IF NOT EXISTS events
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
  -- What asked by itself: a bot, continuous integration, a mirror. Empty if nothing says so.
  automated             LowCardinality(String),
  -- Rows of a day stay in the order in which they came. So those of an import lie together, and those with sign -1.
  INDEX by_version version TYPE minmax GRANULARITY 1,
  INDEX by_sign sign TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY if(toYear(date) < 2025, intDiv(toYear(date), 10), toYYYYMM(date))
ORDER BY (artifact, date)
SETTINGS {deduplication(100000)}, merge_selector_base = 10;
