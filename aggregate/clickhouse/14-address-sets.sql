-- From which addresses was a package downloaded on a day, as a bitmap of their numbers, and from which by people? And from
-- which was each version downloaded, and which of those have robots alone?
-- Bitmaps are united in a tenth of the time that distinct addresses are counted in. They are made from `events` by a job,
-- for days at rest, and hold for as long as `fingerprint` is the sum in `totals`: an override, as whatever else changes the
-- addresses or versions of a day, changes that sum, and rows are read until the bitmaps are made anew.
-- `numbers` is the greatest number at that time. A row with a greater one than address_numbers has does not hold: it is
-- of numbers that were lost.
-- A row is whole or not there: so the versions of a day are a list in it. The list is empty where a day has too many.
-- Rows are large: with more of them between two marks, other packages and days are read as well, which takes half again as
-- long.
CREATE TABLE IF NOT EXISTS address_sets
(
  package           UUID,
  date              Date,
  fingerprint       Int64,
  numbers           UInt32,
  addresses         AggregateFunction(groupBitmap, UInt32),
  people            AggregateFunction(groupBitmap, UInt32),
  versions          Array(String),
  version_addresses Array(AggregateFunction(groupBitmap, UInt32)),
  version_robots    Array(AggregateFunction(groupBitmap, UInt32))
)
ENGINE = ReplacingMergeTree
ORDER BY (package, date)
SETTINGS index_granularity = 16;
