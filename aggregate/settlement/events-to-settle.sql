-- Which events may be wrong? A condition of find-deltas.sql, for many events, on rows of event_ids and of erased_versions.
-- One version, received once and live once, is right: most events are new. An override is a second version.
-- A version that was erased and is received once more is live once, too; but `rows` counts all of its rows, merged or not.
-- Every event of a retracted import is among them: its only version may have to go.
-- Events are told apart by 32 bits of their ids, because a set of whole ids takes four times as long. Those that only share
-- these bits with one of them are looked at too. Ids are compared before packages: most owners have few packages, which
-- leave out little.
PREWHERE toUInt32(event_id) IN
(
  SELECT toUInt32(event_id) AS id
  FROM event_ids
  PREWHERE toUInt32(event_id) IN (SELECT toUInt32(event_id) FROM written)
  WHERE artifact IN (SELECT artifact FROM written)
  GROUP BY id
  HAVING {retracted:Bool} OR sum(rows) != 1 OR sum(live) != 1
)
WHERE artifact IN (SELECT artifact FROM written)
