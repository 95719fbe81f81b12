-- What did companies do before company_activity was there? Counted once, when an installation is upgraded: the marker
-- company_activity_of_before makes a second run count nothing, and the token makes a repeated insert do nothing.
-- An override counts as in the view. What the view has counted by then is subtracted.
CREATE {new_table(company_activity_of_before)}
(
  counted DateTime DEFAULT now()
)
ENGINE = {plain}
ORDER BY counted;

INSERT INTO company_activity (artifact, kind, date, company, company_domain, total)
SELECT artifact, kind, date, company, company_domain, sum(total) AS missing
FROM
(
  SELECT artifact, kind, date, company, company_domain, sum(sign) AS total
  FROM events
  WHERE company_domain != '' AND (SELECT count() FROM company_activity_of_before) = 0
  GROUP BY artifact, kind, date, company, company_domain
  UNION ALL
  SELECT artifact, kind, date, company, company_domain, -sum(total) AS total
  FROM company_activity
  WHERE (SELECT count() FROM company_activity_of_before) = 0
  GROUP BY artifact, kind, date, company, company_domain
)
GROUP BY artifact, kind, date, company, company_domain
HAVING missing != 0
ORDER BY artifact, company_domain, date, company, kind
SETTINGS
  async_insert = 0,
  insert_deduplicate = 1,
  deduplicate_insert_select = 'force_enable',
  insert_deduplication_token = 'company activity of before',
  max_insert_threads = 1,
  max_block_size = 100000000,
  min_insert_block_size_rows = 100000000,
  min_insert_block_size_bytes = 0;

INSERT INTO company_activity_of_before (counted)
SELECT now() WHERE (SELECT count() FROM company_activity_of_before) = 0;

