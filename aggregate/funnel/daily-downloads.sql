-- How often did each of these companies download these packages on each day?
-- An override has moved what is counted here; a day that sums to zero is left out.
SELECT company_domain AS domain, date, sum(total) AS downloads
FROM company_activity
WHERE artifact IN {artifacts:Array(UUID)} AND kind = 'package' AND company_domain IN {domains:Array(String)}
  AND date >= {start:Date} AND date < {end:Date}
GROUP BY company_domain, date
HAVING downloads > 0
