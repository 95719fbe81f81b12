-- Which versions of the candidates are live more or fewer times than they should be?
-- The latest version that is not retracted must be live exactly once, and every other version not at all.
-- An override leaves two versions live; its retraction leaves none live and the earlier one in superseded_events.
INSERT INTO settlement_deltas (batch, artifact, event_id, version, import_id, date, delta)
WITH candidates AS
(
  SELECT artifact, event_id FROM settlement_candidates WHERE batch = {batch:UUID}
)
SELECT {batch:UUID}, artifact, event_id, found.1, found.2, found.3, found.4
FROM
(
  SELECT
    artifact,
    event_id,
    maxIf((version, import_id), NOT retracted) AS latest,
    groupArray((version, import_id, date, live, retracted)) AS versions,
    arrayFilter(
      d -> d.4 != 0,
      arrayMap(
        v -> (v.1, v.2, v.3, toInt32(if(NOT v.5 AND (v.1, v.2) = latest, 1, 0)) - v.4),
        versions)) AS found_all
  FROM
  (
    SELECT
      artifact,
      event_id,
      version,
      import_id,
      any(date) AS date,
      toInt32(sum(live)) AS live,
      import_id IN (SELECT import_id FROM retracted_imports) AS retracted
    FROM
    (
      SELECT artifact, event_id, version, import_id, date, live
      FROM event_ids
      WHERE (artifact, event_id) IN (candidates)
      UNION ALL
      SELECT artifact, event_id, version, import_id, date, 0 AS live
      FROM superseded_events
      WHERE (artifact, event_id) IN (candidates)
    )
    GROUP BY artifact, event_id, version, import_id
  )
  GROUP BY artifact, event_id
  HAVING notEmpty(found_all)
)
ARRAY JOIN found_all AS found
