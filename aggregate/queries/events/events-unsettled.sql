-- Which events of events.sql will be live, once these imports (`unsettled`, their versions from `unsettledFrom` on) are settled?
-- Conditions of that query, and of the one that is added to it.
-- Shows the earlier version of an overridden event until event_ids has the override, then only the override.
-- A retracted version is left out at once; the version that it had overridden is shown again when that is settled. The
-- versions of imports whose retraction is settled, those in retracted_imports, override nothing any more.
AND e.import_id NOT IN {retracted:Array(UUID)}
AND (e.import_id NOT IN {unsettled:Array(UUID)} OR e.version < {unsettledFrom:UInt64}
  OR (e.event_id, e.version, e.import_id) IN
  (
    SELECT event_id, tupleElement(max((version, import_id)) AS latest, 1), tupleElement(latest, 2)
    FROM event_ids
    WHERE artifact IN (artifacts) AND import_id NOT IN {retracted:Array(UUID)}
      AND import_id NOT IN (SELECT import_id FROM retracted_imports) AND (artifact, event_id) IN
    (
      SELECT artifact, event_id
      FROM import_events
      WHERE import_id IN {unsettled:Array(UUID)} AND version >= {unsettledFrom:UInt64} AND artifact IN (artifacts)
    )
    GROUP BY artifact, event_id
  ))
AND (e.event_id, e.version, e.import_id) NOT IN
(
  SELECT event_id, tupleElement(overridden, 1), tupleElement(overridden, 2)
  FROM
  (
    SELECT event_id, arrayPopBack(arraySort(groupUniqArray((version, import_id)))) AS versions
    FROM event_ids
    WHERE artifact IN (artifacts) AND import_id NOT IN {retracted:Array(UUID)}
      AND import_id NOT IN (SELECT import_id FROM retracted_imports) AND (artifact, event_id) IN
    (
      SELECT artifact, event_id
      FROM import_events
      WHERE import_id IN {unsettled:Array(UUID)} AND version >= {unsettledFrom:UInt64} AND artifact IN (artifacts)
    )
    GROUP BY artifact, event_id
  )
  ARRAY JOIN versions AS overridden
)
