-- From how many distinct addresses was a package downloaded on a day? Those with a total above zero.
-- An override takes one from the earlier version's address; at zero the address no longer counts.
CREATE TABLE IF NOT EXISTS uniques
(
  package     UUID,
  date        Date,
  endpoint_id FixedString(16),
  total       Int64
)
ENGINE = SummingMergeTree(total)
ORDER BY (package, date, endpoint_id)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW IF NOT EXISTS uniques_view TO uniques AS
SELECT artifact AS package, date, endpoint_id, sum(sign) AS total
FROM events
WHERE kind = 'package' AND endpoint_id != toFixedString('', 16)
GROUP BY package, date, endpoint_id;
