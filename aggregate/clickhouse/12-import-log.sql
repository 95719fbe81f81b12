-- What was wrong with which line of an import, and what did the line say? A job removes entries after as many days as the
-- service is told to keep them: refused lines are text of anybody, addresses included.
-- An override changes nothing here. `line_bytes` holds refused lines as they were sent, byte for byte.
CREATE TABLE IF NOT EXISTS import_log
(
  import_id   UUID,
  line        UInt64,
  class       Enum8('error' = 1, 'warning' = 2, 'info' = 3),
  type        LowCardinality(String),
  message     String,
  package_id  String,
  pixel_id    String,
  line_bytes  String,
  logged      DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree
ORDER BY (import_id, line, class, type, message)
SETTINGS {deduplication(10000)};
