-- Which partitions have events of days before one only, oldest first, and how much is that? Overridden versions are rows
-- as well.
SELECT partition_id AS id, sum(parts.rows) AS row_count, sum(parts.bytes_on_disk) AS byte_count
FROM system.parts AS parts
WHERE database = currentDatabase() AND table = 'events' AND active AND parts.rows > 0
GROUP BY partition_id
HAVING max(max_date) < {before:Date}
ORDER BY max(max_date)
LIMIT {most:UInt32}
