-- What does ClickHouse make of the raw lines alone? The peer of the import benchmark.
-- It fills the columns that a line spells out, in one statement; lines that have no time or name another package are left
-- out. It enriches nothing, keeps no custom variables, logs no line, and an override is one more event.
INSERT INTO events
  (artifact, kind, library_type, time, unique_key, version, import_id, sign, type, package_version, domain, referer,
   user_agent)
SELECT
  {artifact:UUID},
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
WHERE parsed_time IS NOT NULL AND `$package` IN ('', toString({artifact:UUID}))
FORMAT JSONEachRow
