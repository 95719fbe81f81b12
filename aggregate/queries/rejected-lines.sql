-- Which lines of an import were refused? Byte for byte as they were sent, to be corrected and sent again. A text is empty
-- once it was kept for long enough, and for a dead letter.
SELECT line_bytes
FROM import_log FINAL
WHERE import_id = {importId:UUID} AND class = 'error' AND line_bytes != ''
ORDER BY line
FORMAT TSVRaw
