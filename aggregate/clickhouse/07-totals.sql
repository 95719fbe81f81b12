-- How often was a package downloaded on a day, and how often by bots, continuous integration and mirrors?
-- An override takes one from the day of the earlier version and adds one to that of the later.
--
-- `fingerprint` says whether a day still has the contents of its row of address_sets: from which addresses which versions were
-- downloaded, by people and by others. It is the sum of 64 bits of hash of each such download, with a sign; sums wrap at 2^64.
-- Signs add up in it as in the other sums, so no writer has to know of the sets. Two contents of a day have the same sum with
-- a probability of 2^-64: endpoint_id is made with a secret key. Who can read the ids of the own events could compute such
-- contents, and would only make the own numbers wrong.
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
  sumIf(sign * reinterpretAsInt64(sipHash64(endpoint_id, package_version, automated = '')), endpoint_id != toFixedString('', 16)) AS fingerprint,
  sum(sign) AS total, sumIf(sign, automated != '') AS automated_total
FROM events
WHERE kind = 'package'
GROUP BY package, date;
