-- What was wrong with which lines of an import? One log entry as JSON a row, spelt as JSON.stringify spells it.
SELECT concat(
  '{"class":"', toString(class), '","type":', toJSONString(type),
  ',"human_friendly_message":', toJSONString(message),
  ',"line":', toString(line),
  if(package_id = '', '', concat(',"package_id":', toJSONString(package_id))),
  if(pixel_id = '', '', concat(',"pixel_id":', toJSONString(pixel_id))),
  '}') AS entry
FROM import_log FINAL
WHERE import_id = {importId:UUID} AND import_log.type != 'entries-not-kept'
ORDER BY import_log.line, import_log.class, import_log.type, message
SETTINGS output_format_json_escape_forward_slashes = 0
FORMAT TSVRaw
