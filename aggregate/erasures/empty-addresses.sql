-- Has the breakdown of addresses rows that add up to nothing, on the days that an erasure touched, or have the totals of
-- these days rows that only remove? They hold the ids of erased addresses until parts are merged: the fingerprint of one
-- event is a hash of its id. An override leaves such rows as well.
SELECT 1
FROM uniques
WHERE (package, date) IN (SELECT artifact, date FROM erased_versions WHERE erasure = {erasure:UUID})
GROUP BY package, date, address
HAVING sum(total) = 0
LIMIT 1
UNION ALL
SELECT 1
FROM totals
WHERE (package, date) IN (SELECT artifact, date FROM erased_versions WHERE erasure = {erasure:UUID})
GROUP BY package, date
HAVING count() > 1 AND min(total) <= 0
LIMIT 1
