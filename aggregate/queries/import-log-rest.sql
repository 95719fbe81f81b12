-- How many entries does the log of an import not have, because it has too many? One entry as JSON, or none.
-- Enrichment leaves a row for each chunk, class and type, with their number in `line_bytes`.
SELECT concat(
  '{"class":"info","type":"entries-not-kept","human_friendly_message":"', toString(sum(toUInt64OrZero(line_bytes))),
  ' more entries are counted and not kept.","line":0}') AS entry
FROM import_log FINAL
WHERE import_id = {importId:UUID} AND type = 'entries-not-kept'
HAVING count() > 0
FORMAT TSVRaw
