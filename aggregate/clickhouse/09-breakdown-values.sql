-- Which values did the downloads of a day have by each breakdown, and how often, also by bots, CI and mirrors?
-- One table, so that an insert makes one part for all of them. read-migrations.ts makes its view of their list.
--
-- Lines of AggregateV1 have this order, so exports are sent as they are read. UUIDs are ordered by their second half:
-- UUIDToNum has the order of their text. Conditions on `package` use the key as well.
--
-- `value_hash` says which value of which breakdown a row counts, so that the greatest of a list are found without a text.
-- Two of a million values have the same one with a probability of 3 in 100,000,000. They would count as one of them.
CREATE TABLE IF NOT EXISTS breakdown_values
(
  package         UUID,
  date            Date,
  breakdown       LowCardinality(String),
  value_1         LowCardinality(String),
  -- Empty where the breakdown has one value.
  value_2         String,
  total           Int64,
  automated_total Int64,
  value_hash      UInt64 MATERIALIZED sipHash64(breakdown, value_1, value_2)
)
ENGINE = SummingMergeTree((total, automated_total))
ORDER BY (UUIDToNum(package), date, breakdown, value_1, value_2)
SETTINGS {deduplication(10000)};
