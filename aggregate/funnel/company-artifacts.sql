-- How often did a company download or view each of these packages and pixels in the range?
-- An override has moved what is counted here; an artifact that sums to zero is left out.
SELECT artifact AS id, toString(kind) AS kind, sum(total) AS events
FROM company_activity
WHERE artifact IN {artifacts:Array(UUID)} AND company_domain = {domain:String}
  AND date >= {start:Date} AND date < {end:Date}
GROUP BY artifact, kind
HAVING events > 0
