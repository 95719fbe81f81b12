-- Which versions of events were erased, because they were of a client that asked for it? None of them may be live, now or
-- later, overrides or not: with the same lines, read once more, they would come back. Nothing here names the client.
CREATE TABLE IF NOT EXISTS erased_versions
(
  erasure   UUID,
  artifact  UUID,
  event_id  UInt128,
  version   UInt64,
  import_id UUID,
  date      Date
)
ENGINE = ReplacingMergeTree
ORDER BY (artifact, event_id, version, import_id, erasure);
