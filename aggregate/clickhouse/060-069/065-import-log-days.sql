-- What was wrong with which line of an import? Kept for 90 days: refused lines are text of anybody, addresses included.
ALTER {table(import_log)} MODIFY TTL toDateTime(logged) + INTERVAL 90 DAY;
