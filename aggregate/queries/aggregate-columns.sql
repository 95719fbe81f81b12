-- What does each aggregate look like as a row of a table? Columns of other breakdowns hold nothing.
-- An override changes nothing here: the rows are those of aggregates.sql.
SELECT
  breakdown,
  date,
  package,
  total,
  if(breakdown = 'company', first, NULL) AS company_name,
  if(breakdown = 'company' AND second != '', second, NULL) AS company_domain,
  if(breakdown = 'cloud_provider', first, NULL) AS cloud_provider_name,
  if(breakdown = 'cloud_provider' AND second != '', second, NULL) AS cloud_provider_domain,
  if(breakdown = 'country', first, NULL) AS country,
  if(breakdown = 'platform', first, NULL) AS platform,
  if(breakdown = 'version', first, NULL) AS version,
  if(breakdown = 'client', first, NULL) AS client,
  if(breakdown = 'client' AND second != '', second, NULL) AS client_version,
  if(breakdown = 'variable', first, NULL) AS variable,
  if(breakdown = 'variable', second, NULL) AS value,
  if(breakdown = 'total', unique_total, NULL) AS unique_total
