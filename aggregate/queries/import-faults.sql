-- What kinds of entries does the log of an import have, how many of each, and which are the first of them?
-- An override changes nothing here. Dead letters of an earlier version were logged as chunk-set-aside.
SELECT
  toString(class) AS class,
  if(import_log.type = 'chunk-set-aside', 'dead-letter', import_log.type) AS type,
  count() AS entries,
  groupArraySorted({examples:UInt8})(tuple(import_log.line, message, leftUTF8(toValidUTF8(left(line_bytes, 2000)), 500)))
    AS first
FROM import_log FINAL
WHERE import_id = {importId:UUID}
GROUP BY class, type
ORDER BY class, entries DESC, type
