-- Which companies ever downloaded this package?
-- An override has moved what is counted here; a company that sums to zero is left out.
SELECT company_domain AS domain
FROM company_activity
WHERE artifact = {artifact:UUID}
GROUP BY company_domain
HAVING sum(total) > 0
