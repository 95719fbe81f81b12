-- Which imports were retracted? None of their versions may be live, now or later, overrides or not.
CREATE TABLE IF NOT EXISTS retracted_imports
(
  import_id UUID
)
ENGINE = ReplacingMergeTree
ORDER BY import_id;
