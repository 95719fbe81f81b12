-- Which companies downloaded a package on a day?
-- An override takes one from the earlier version's company and adds one to the later's.
CREATE TABLE IF NOT EXISTS companies
(
  package        UUID,
  date           Date,
  company        LowCardinality(String),
  company_domain LowCardinality(String),
  total          Int64
)
ENGINE = SummingMergeTree(total)
ORDER BY (package, date, company, company_domain)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW IF NOT EXISTS companies_view TO companies AS
SELECT artifact AS package, date, company, company_domain, sum(sign) AS total
FROM events
WHERE kind = 'package' AND company != ''
GROUP BY package, date, company, company_domain;
