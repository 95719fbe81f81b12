-- On which days were these companies active with one owner, and how many points was each day worth?
-- An override or a retraction has moved what is counted here; a day that sums to zero is left out.
SELECT
  company_domain AS domain,
  date,
  sumIf(total, kind = 'package') AS downloads,
  sumIf(total, kind = 'pixel') AS views,
  least({downloadPointsDayMax:Float64}, sumIf(total * points, kind = 'package')) AS download_points,
  least({viewPointsDayMax:Float64}, sumIf(total * points, kind = 'pixel')) AS view_points
FROM company_activity
INNER JOIN (SELECT artifact, points FROM funnel_artifacts WHERE batch = {batch:UUID}) AS owned USING (artifact)
WHERE artifact IN (SELECT artifact FROM funnel_artifacts WHERE batch = {batch:UUID})
  AND company_domain IN {domains:Array(String)}
GROUP BY domain, date
HAVING downloads > 0 OR views > 0
ORDER BY domain, date
FORMAT JSONCompactEachRow
