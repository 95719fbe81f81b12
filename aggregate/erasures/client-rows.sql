-- How many rows of events of these packages and pixels does a client still have that are to go, and below which receipt
-- stamp are all of its live events? Overridden versions have rows, too. `{column}` stands for the column of the client's
-- id, `{before}` for a condition on the receipt, `artifacts` is given in front of the SELECT.
SELECT countIf({before}) AS rows, intDiv(maxIf(version, import_id = {live:UUID}), {linesInChunk:UInt32}) + 1 AS liveStamp
FROM events
WHERE artifact IN (artifacts) AND {column} = unhex({clientId:String})
