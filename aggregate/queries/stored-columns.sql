-- Which columns does a table store? A column that a migration adds is among them by itself.
SELECT name
FROM system.columns
WHERE database = currentDatabase() AND table = {table:String} AND default_kind NOT IN ('EPHEMERAL', 'ALIAS', 'MATERIALIZED')
ORDER BY position
