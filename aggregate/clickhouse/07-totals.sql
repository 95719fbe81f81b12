-- How often was a package downloaded on a day, and how often by bots, continuous integration and mirrors?
-- An override takes one from the day of the earlier version and adds one to that of the later.
--
-- `fingerprint` says whether the addresses of a day are still those of its row of address_sets: the sum of each address times
-- (total + automated_total * c), where c is 2^64 divided by the golden ratio, with a sign, and sums wrap at 2^64. Signs add
-- up in it as in the other sums, so no writer has to know of the sets. Two contents of a day have the same sum with a
-- probability of 2^-64: addresses are 64 bits of AES with a secret key. Who can read the ids of the own events could compute
-- such contents, and would only make the own numbers wrong. c is far from small fractions of 2^64, so that a few automated
-- events never weigh as much as others from the same address.
CREATE TABLE IF NOT EXISTS totals
(
  package         UUID,
  date            Date,
  total           Int64,
  automated_total Int64,
  fingerprint     Int64
)
ENGINE = SummingMergeTree((total, automated_total, fingerprint))
ORDER BY (package, date)
SETTINGS {deduplication(10000)};

CREATE MATERIALIZED VIEW IF NOT EXISTS totals_view TO totals AS
SELECT artifact AS package, date,
  sum(reinterpretAsInt64(endpoint_id) * sign * if(automated = '', 1, 1 - 7046029254386353131)) AS fingerprint,
  sum(sign) AS total, sumIf(sign, automated != '') AS automated_total
FROM events
WHERE kind = 'package'
GROUP BY package, date;
