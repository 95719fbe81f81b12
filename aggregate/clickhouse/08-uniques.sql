-- From which addresses was a package downloaded on a day? Those with a total above zero; by people, where it is above
-- automated_total. `address` is 64 bits of endpoint_id, in half the time and space of all: once a hundred million addresses
-- are stored, two of them are the same with a probability of 1 in 3,700.
CREATE TABLE IF NOT EXISTS uniques
(
  package         UUID,
  date            Date,
  address         UInt64,
  total           Int64,
  automated_total Int64
)
ENGINE = SummingMergeTree((total, automated_total))
ORDER BY (package, date, address)
SETTINGS {deduplication(10000)}, merge_selector_base = 10;

CREATE MATERIALIZED VIEW IF NOT EXISTS uniques_view TO uniques AS
SELECT artifact AS package, date, reinterpretAsUInt64(endpoint_id) AS address, sum(sign) AS total, sumIf(sign, automated != '') AS automated_total
FROM events
WHERE kind = 'package' AND endpoint_id != toFixedString('', 16)
GROUP BY package, date, address;
