-- On which days did a company download a package or view a pixel, and how often?
-- An override takes one from the earlier version's company and day and adds one to the later's.
-- A company without a known domain is left out: other companies may have the same name.
CREATE TABLE IF NOT EXISTS company_activity
(
  artifact       UUID,
  kind           Enum8('package' = 1, 'pixel' = 2),
  date           Date,
  company        LowCardinality(String),
  company_domain LowCardinality(String),
  total          Int64
)
ENGINE = SummingMergeTree(total)
ORDER BY (artifact, company_domain, date, company, kind)
SETTINGS {deduplication(10000)};

CREATE MATERIALIZED VIEW IF NOT EXISTS company_activity_view TO company_activity AS
SELECT artifact, kind, date, company, company_domain, sum(sign) AS total
FROM events
WHERE company_domain != ''
GROUP BY artifact, kind, date, company, company_domain;
