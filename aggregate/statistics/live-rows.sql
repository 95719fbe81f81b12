-- Which events had these packages and pixels in the two ranges? Rows whose signs add up to one for each live version.
-- Every import of the owner is settled. An override's earlier version has a row with sign -1 beside its own, so that both
-- add up to nothing.
-- `{columns}` stands for the columns that are read, `{conditions}` for those of the filters.
SELECT {columns}, sign
FROM events
WHERE artifact IN (artifacts)
  AND (date >= {start:Date} AND date < {end:Date} OR date >= {beforeStart:Date} AND date < {beforeEnd:Date})
  {conditions}
