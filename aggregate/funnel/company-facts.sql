-- Where does each company stand with each owner of a batch, up to a day? By owner, then domain.
-- An override or a retraction has moved what is counted here; a day that sums to zero is left out.
-- `replay-days.ts` finds the same on days of the past. Property tests hold both to `stage-facts.ts` in `test/support/funnel`.
SELECT
  place,
  domain,
  argMax(name, date) AS name,
  least({downloadPointsMax:Float64}, sumIf(download_points, age < 30))
    + least({viewPointsMax:Float64}, sumIf(view_points, age < 30)) AS score,
  countIf(downloads > 0 AND age < 30) AS download_days,
  countIf(views > 0 AND age < 30) > 0 AS viewed_last_30_days,
  countIf(views > 0 AND age < 60) > 0 AS viewed_last_60_days,
  -- Weeks begin on Monday; 1970-01-01 was a Thursday.
  groupUniqArrayIf(intDiv(toInt32(date) + 3, 7), views > 0 AND age < 60) AS weeks,
  hasAny(weeks, arrayMap(week -> week + 1, weeks)) AS viewed_in_consecutive_weeks,
  countIf(age < 30) > 0 AS active_0,
  countIf(age >= 30 AND age < 60) > 0 AS active_1,
  countIf(age >= 60 AND age < 90) > 0 AS active_2,
  sum(downloads) AS all_downloads,
  sum(views) AS all_views,
  sumIf(downloads, age < 30) AS recent_downloads,
  min(date) AS first_seen,
  max(date) AS last_seen,
  -- They differ as soon as one of their days counts otherwise.
  toString(groupBitXorIf(day_hash, date < {today:Date})) AS past,
  toString(groupBitXorIf(day_hash, date < {lastRuns:Array(Date)}[place + 1])) AS past_of_last_run
FROM
(
  SELECT
    place,
    domain,
    date,
    toInt32({today:Date}) - toInt32(date) AS age,
    argMax(company, (company_downloads + company_views, company)) AS name,
    sum(company_downloads) AS downloads,
    sum(company_views) AS views,
    least({downloadPointsDayMax:Float64}, sum(company_download_points)) AS download_points,
    least({viewPointsDayMax:Float64}, sum(company_view_points)) AS view_points,
    cityHash64(date, downloads, views, download_points, view_points) AS day_hash
  FROM
  (
    SELECT
      place,
      company_domain AS domain,
      date,
      company,
      sumIf(total, kind = 'package') AS company_downloads,
      sumIf(total, kind = 'pixel') AS company_views,
      sumIf(total * points, kind = 'package') AS company_download_points,
      sumIf(total * points, kind = 'pixel') AS company_view_points
    FROM company_activity
    INNER JOIN (SELECT artifact, place, points FROM funnel_artifacts WHERE batch = {batch:UUID}) AS owned USING (artifact)
    WHERE artifact IN (SELECT artifact FROM funnel_artifacts WHERE batch = {batch:UUID}) AND date <= {today:Date}
    GROUP BY place, domain, date, company
    HAVING company_downloads > 0 OR company_views > 0
  )
  GROUP BY place, domain, date
)
GROUP BY place, domain
ORDER BY place, domain
FORMAT JSONCompactEachRow
