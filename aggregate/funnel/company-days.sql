-- How often did a company download these packages and view these pixels on each day?
-- An override has moved what is counted here; a day that sums to zero is left out.
SELECT date, sumIf(total, kind = 'package') AS downloads, sumIf(total, kind = 'pixel') AS views
FROM company_activity
WHERE artifact IN {artifacts:Array(UUID)} AND company_domain = {domain:String}
  AND date >= {start:Date} AND date < {end:Date}
GROUP BY date
HAVING downloads > 0 OR views > 0
