-- On which days did a company download a package or view a pixel, and how often?
-- An override takes one from the earlier version's company and day and adds one to the later's.
-- A company whose domain is not known cannot be told from others of its name, and is left out.
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
SETTINGS non_replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW IF NOT EXISTS company_activity_view TO company_activity AS
SELECT artifact, kind, date, company, company_domain, sum(sign) AS total
FROM events
WHERE company_domain != ''
GROUP BY artifact, kind, date, company, company_domain;
