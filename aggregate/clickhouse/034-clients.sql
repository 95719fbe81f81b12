-- With which clients was a package downloaded on a day?
-- An override takes one from the earlier version's client and adds one to the later's.
CREATE TABLE IF NOT EXISTS clients
(
  package        UUID,
  date           Date,
  client         LowCardinality(String),
  client_version LowCardinality(String),
  total          Int64
)
ENGINE = SummingMergeTree(total)
ORDER BY (package, date, client, client_version)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW IF NOT EXISTS clients_view TO clients AS
SELECT artifact AS package, date, client, client_version, sum(sign) AS total
FROM events
WHERE kind = 'package' AND client != ''
GROUP BY package, date, client, client_version;
