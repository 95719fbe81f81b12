-- What kinds of entries does the log of an import have, how many of each, and which are the first of them?
-- Entries that were counted and not kept are a row for each chunk, class and type: `class type` is their message, and their
-- number the text.
WITH import_log.type = 'entries-not-kept' AS is_rest
SELECT
  if(is_rest, splitByChar(' ', message)[1], toString(import_log.class)) AS class,
  if(is_rest, splitByChar(' ', message)[2], toString(import_log.type)) AS type,
  sum(if(is_rest, toUInt64OrZero(line_bytes), 1)) AS entries,
  groupArraySortedIf({examples:UInt8})(
    tuple(import_log.line, message, leftUTF8(toValidUTF8(left(line_bytes, 2000)), 500)), NOT is_rest)
    AS first
FROM import_log FINAL
WHERE import_id = {importId:UUID}
GROUP BY class, type
ORDER BY class, entries DESC, type
