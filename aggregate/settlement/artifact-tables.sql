-- Which tables say something of a package or a pixel, and in which column? A new breakdown is among them by itself.
-- An override changes nothing in it.
SELECT columns.table AS table, columns.name AS column
FROM system.columns AS columns
WHERE columns.database = currentDatabase() AND columns.name IN ('artifact', 'package') AND columns.type = 'UUID'
  AND columns.table IN (SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree')
ORDER BY table
