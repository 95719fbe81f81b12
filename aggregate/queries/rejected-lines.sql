-- Which lines of an import were refused? Byte for byte as they were sent, to be corrected and sent again.
SELECT line_bytes
FROM import_log FINAL
WHERE import_id = {importId:UUID} AND class = 'error'
ORDER BY line
FORMAT TSVRaw
