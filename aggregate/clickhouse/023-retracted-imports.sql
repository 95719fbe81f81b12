-- Which imports were retracted? None of their versions may be live, now or later, overrides or not.
CREATE {new_table(retracted_imports)}
(
  import_id UUID
)
ENGINE = {replacing}
ORDER BY import_id;
