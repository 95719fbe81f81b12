-- Which versions of events of these packages and pixels are of a client, and were received before it was to be erased?
-- All of them, overridden or not, that were not found before. `{column}` stands for the column of the client's id, `{before}`
-- for a condition on the receipt, `artifacts` is given in front of the SELECT.
SELECT DISTINCT {erasure:UUID}, artifact, event_id, version, import_id, date
FROM events
WHERE artifact IN (artifacts) AND {column} = unhex({clientId:String}) AND {before}
  AND (artifact, event_id, version, import_id) NOT IN
  (
    SELECT artifact, event_id, version, import_id FROM erased_versions WHERE erasure = {erasure:UUID}
  )
LIMIT {versionsMax:UInt32}
