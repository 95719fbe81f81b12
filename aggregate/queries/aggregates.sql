-- How often was each package downloaded each day, in all and by each breakdown? `packages` is given in front of it.
-- Overrides are settled in the tables that this reads: what was taken back has a total of zero and is left out.
SELECT toString(counted.package) AS package, date, 'total' AS breakdown, '' AS first, '' AS second,
  sum(downloads) AS total, sum(addresses) AS unique_total
FROM
(
  SELECT package, date, sum(total) AS downloads, 0 AS addresses
  FROM totals
  WHERE package IN (packages) AND date >= {start:Date} AND date < {end:Date} AND has({breakdowns:Array(String)}, 'total')
  GROUP BY package, date
  UNION ALL
  SELECT package, date, 0 AS downloads, count() AS addresses
  FROM
  (
    SELECT package, date, endpoint_id
    FROM uniques
    WHERE package IN (packages) AND date >= {start:Date} AND date < {end:Date} AND has({breakdowns:Array(String)}, 'total')
    GROUP BY package, date, endpoint_id
    HAVING sum(total) > 0
  )
  GROUP BY package, date
) AS counted
GROUP BY counted.package, date
HAVING total > 0

UNION ALL
SELECT toString(counted.package) AS package, date, 'company' AS breakdown, company AS first, company_domain AS second, sum(counted.total) AS total, 0 AS unique_total
FROM companies AS counted
WHERE counted.package IN (packages) AND date >= {start:Date} AND date < {end:Date} AND has({breakdowns:Array(String)}, 'company')
GROUP BY counted.package, date, first, second
HAVING total > 0

UNION ALL
SELECT toString(counted.package) AS package, date, 'cloud_provider' AS breakdown, cloud_provider AS first, cloud_provider_domain AS second, sum(counted.total) AS total, 0 AS unique_total
FROM cloud_providers AS counted
WHERE counted.package IN (packages) AND date >= {start:Date} AND date < {end:Date} AND has({breakdowns:Array(String)}, 'cloud_provider')
GROUP BY counted.package, date, first, second
HAVING total > 0

UNION ALL
SELECT toString(counted.package) AS package, date, 'country' AS breakdown, country AS first, '' AS second, sum(counted.total) AS total, 0 AS unique_total
FROM countries AS counted
WHERE counted.package IN (packages) AND date >= {start:Date} AND date < {end:Date} AND has({breakdowns:Array(String)}, 'country')
GROUP BY counted.package, date, first, second
HAVING total > 0

UNION ALL
SELECT toString(counted.package) AS package, date, 'platform' AS breakdown, platform AS first, '' AS second, sum(counted.total) AS total, 0 AS unique_total
FROM platforms AS counted
WHERE counted.package IN (packages) AND date >= {start:Date} AND date < {end:Date} AND has({breakdowns:Array(String)}, 'platform')
GROUP BY counted.package, date, first, second
HAVING total > 0

UNION ALL
SELECT toString(counted.package) AS package, date, 'version' AS breakdown, package_version AS first, '' AS second, sum(counted.total) AS total, 0 AS unique_total
FROM versions AS counted
WHERE counted.package IN (packages) AND date >= {start:Date} AND date < {end:Date} AND has({breakdowns:Array(String)}, 'version')
GROUP BY counted.package, date, first, second
HAVING total > 0

UNION ALL
SELECT toString(counted.package) AS package, date, 'client' AS breakdown, client AS first, client_version AS second, sum(counted.total) AS total, 0 AS unique_total
FROM clients AS counted
WHERE counted.package IN (packages) AND date >= {start:Date} AND date < {end:Date} AND has({breakdowns:Array(String)}, 'client')
GROUP BY counted.package, date, first, second
HAVING total > 0

UNION ALL
SELECT toString(counted.package) AS package, date, 'variable' AS breakdown, variable AS first, value AS second, sum(counted.total) AS total, 0 AS unique_total
FROM variables AS counted
WHERE counted.package IN (packages) AND date >= {start:Date} AND date < {end:Date} AND has({breakdowns:Array(String)}, 'variable')
GROUP BY counted.package, date, first, second
HAVING total > 0
