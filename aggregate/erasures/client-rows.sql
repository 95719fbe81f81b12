-- How many rows of events of these packages and pixels does a client still have, of those that were received before it was
-- to be erased? Overridden versions have rows, too. `{column}` stands for the column of the client's id.
SELECT count() AS rows
FROM events
WHERE artifact IN (artifacts) AND {column} = unhex({clientId:String}) AND version < {beforeVersion:UInt64}
