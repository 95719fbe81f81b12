-- What happened in a month? The rows of events_before, and those of superseded_events that merges swept from it, each
-- with a row that removes it. A version that events_before still has may be live: it needs no such pair.
-- `{columns}` stands for the stored columns of events, `{month}` for a number like 202501.
INSERT INTO events_by_day ({columns})
SELECT {columns}
FROM events_before
WHERE toYYYYMM(date) = {month}
UNION ALL
SELECT {columns}
FROM
(
  SELECT * REPLACE (arrayJoin([1, -1]) AS sign)
  FROM
  (
    SELECT *
    FROM superseded_events
    WHERE toYYYYMM(date) = {month} AND (artifact, event_id, version, import_id) NOT IN
      (
        SELECT artifact, event_id, version, import_id
        FROM events_before
        WHERE toYYYYMM(date) = {month} AND sign > 0 AND (artifact, event_id) IN
          (SELECT artifact, event_id FROM superseded_events WHERE toYYYYMM(date) = {month})
      )
    LIMIT 1 BY artifact, event_id, version, import_id
  )
)
SETTINGS
  async_insert = 0,
  insert_deduplicate = 0,
  max_insert_threads = 1,
  min_insert_block_size_rows = 1000000,
  min_insert_block_size_bytes = 268435456
