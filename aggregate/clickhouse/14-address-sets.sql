-- From which addresses was a package downloaded on a day, as a bitmap of their numbers, and from which by people?
-- Bitmaps are united in a tenth of the time that distinct addresses are counted in. They are made from `uniques` by a job,
-- for days at rest, and hold for as long as `fingerprint` is the sum in `totals`: an override, as whatever else changes the
-- addresses of a day, changes that sum, and the rows of `uniques` are read until the bitmap is made anew.
-- `numbers` is the greatest number at that time. A row with a greater one than address_numbers has does not hold: it is
-- of numbers that were lost.
CREATE TABLE IF NOT EXISTS address_sets
(
  package     UUID,
  date        Date,
  fingerprint Int64,
  numbers     UInt32,
  addresses   AggregateFunction(groupBitmap, UInt32),
  people      AggregateFunction(groupBitmap, UInt32)
)
ENGINE = ReplacingMergeTree
ORDER BY (package, date);
