-- Which events of these artifacts came last, since a moment? Newest first, so many at most of each artifact and in all. An
-- override is a row of its own, and what was removed meanwhile adds up to nothing.
-- In front of it stands `artifacts`. `version` says when an event came, not when it happened; see `events`.
SELECT
  lower(hex(reinterpretAsFixedString(event_id))) AS id,
  toDateTime64(happened, 6, 'UTC') AS time,
  toString(artifact) AS artifact_id,
  tupleElement(facts, 1) AS kind,
  tupleElement(facts, 2) AS type,
  tupleElement(facts, 3) AS version,
  tupleElement(facts, 4) AS country,
  tupleElement(facts, 5) AS client,
  tupleElement(facts, 6) AS client_version,
  tupleElement(facts, 7) AS platform,
  tupleElement(facts, 8) AS company,
  tupleElement(facts, 9) AS company_domain,
  tupleElement(facts, 10) AS automated
FROM
(
  SELECT artifact, event_id, version AS came, any(time) AS happened,
    any((kind, type, package_version, country, client, client_version, platform, company, company_domain, automated)) AS facts
  FROM events
  WHERE artifact IN (artifacts) AND version >= {since:UInt64}
  GROUP BY artifact, event_id, version
  HAVING sum(sign) > 0
  ORDER BY came DESC
  LIMIT {each:UInt32} BY artifact
  LIMIT {all:UInt32}
)
ORDER BY came DESC
