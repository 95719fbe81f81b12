-- Which versions of an event are live, and how many times? The index that settlement reads.
-- An override is a second version with live > 0, until settlement removes the earlier one. That one stays, with live 0:
-- 060-events-by-day.sql adds a column for it.
CREATE {new_table(event_ids)}
(
  artifact  UUID,
  event_id  UInt128,
  version   UInt64,
  import_id UUID,
  date      Date,
  live      Int32
)
ENGINE = {summing(live)}
PRIMARY KEY (artifact, event_id)
ORDER BY (artifact, event_id, version, import_id, date)
SETTINGS {deduplication(10000)};

CREATE {new_view(event_ids_view)} TO event_ids AS
SELECT artifact, event_id, version, import_id, date, sign AS live
FROM events;
