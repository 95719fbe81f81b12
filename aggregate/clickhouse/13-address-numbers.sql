-- Which number does an address have in the bitmaps of address_sets? Numbers begin at 1 and leave few gaps.
-- No two addresses may ever have the same number, and no address two: one statement at a time gives them. An override
-- changes nothing here. The partition has ClickHouse know the greatest number without reading any.
CREATE TABLE IF NOT EXISTS address_numbers
(
  address UInt64,
  number  UInt32
)
ENGINE = MergeTree
PARTITION BY intDiv(number, 100000000)
ORDER BY address
SETTINGS index_granularity = 1024;
