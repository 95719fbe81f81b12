-- Which events does ClickHouse read from the raw lines alone? The peer of the import benchmark.
-- One statement fills the columns that a line contains. Lines without a time or for other packages are left out; a line
-- that names none is for the first package. There is no enrichment, no custom variable and no import log, and an
-- override is an additional event.
INSERT INTO events
  (artifact, kind, library_type, time, unique_key, version, import_id, sign, type, package_version, domain, referer,
   user_agent)
SELECT
  if(`$package` = '', {artifacts:Array(UUID)}[1], toUUIDOrZero(`$package`)) AS named_artifact,
  'package',
  'other',
  parseDateTime64BestEffortOrNull(`$time`, 3, 'UTC') AS parsed_time,
  if(`$unique_id` = '', toString(rowNumberInAllBlocks()), `$unique_id`),
  rowNumberInAllBlocks(),
  {importId:UUID},
  1,
  if(`$type` = '', 'file-download', `$type`),
  `$version`,
  `$domain`,
  if(`$referrer` = '', `$referer`, `$referrer`),
  `$user_agent`
FROM input('`$time` String, `$unique_id` String, `$package` String, `$type` String, `$version` String,
  `$domain` String, `$referrer` String, `$referer` String, `$user_agent` String')
WHERE parsed_time IS NOT NULL AND has({artifacts:Array(UUID)}, named_artifact)
FORMAT JSONEachRow
