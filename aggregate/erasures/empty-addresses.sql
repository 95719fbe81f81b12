-- Has the breakdown of addresses rows that add up to nothing, on the days that an erasure touched? They hold the ids of
-- erased addresses until parts are merged. An override leaves such rows as well.
SELECT 1
FROM uniques
WHERE (package, date) IN (SELECT artifact, date FROM erased_versions WHERE erasure = {erasure:UUID})
GROUP BY package, date, address
HAVING sum(total) = 0
LIMIT 1
