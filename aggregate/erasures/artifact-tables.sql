-- Which tables have rows of a package or a pixel, and in which column is its id? A new breakdown's table is found by itself.
SELECT columns.table AS table, columns.name AS column
FROM system.columns AS columns
WHERE columns.database = currentDatabase() AND columns.name IN ('artifact', 'package') AND columns.type = 'UUID'
  AND columns.table IN (SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree')
ORDER BY table
