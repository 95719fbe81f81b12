-- From which addresses was a package downloaded on a day? Those with a total above zero; by people, where it is above
-- automated_total.
CREATE TABLE IF NOT EXISTS uniques
(
  package         UUID,
  date            Date,
  endpoint_id     FixedString(16),
  total           Int64,
  automated_total Int64
)
ENGINE = SummingMergeTree((total, automated_total))
ORDER BY (package, date, endpoint_id)
SETTINGS {deduplication(10000)}, merge_selector_base = 10;

CREATE MATERIALIZED VIEW IF NOT EXISTS uniques_view TO uniques AS
SELECT artifact AS package, date, endpoint_id, sum(sign) AS total, sumIf(sign, automated != '') AS automated_total
FROM events
WHERE kind = 'package' AND endpoint_id != toFixedString('', 16)
GROUP BY package, date, endpoint_id;
