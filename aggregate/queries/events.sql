-- Which events had these packages and pixels on these days? One row an event, in no order.
-- `artifacts` and `package_name` are given in front of it: they may be longer than a parameter can be.
-- An override is another version of its event, and settlement takes the earlier one back. That one is left out by the
-- condition of events-taken-back.sql, or by the setting `final`, which adds the signs up. While an import is not settled,
-- the conditions of events-unsettled.sql leave it out as well.
SELECT
  e.type AS type,
  package_name AS package,
  e.package_version AS version,
  toDateTime64(e.time, 6, 'UTC') AS time,
  e.referer AS referer,
  e.user_agent AS user_agent,
  if(e.type = 'file-download', arrayStringConcat(arrayMap((name, value) -> concat(encodeURLComponent(name), '=', encodeURLComponent(value)), mapKeys(e.variables), mapValues(e.variables)), '&'), '') AS variables,
  if(e.origin_id = toFixedString('', 16), '', lower(hex(e.origin_id))) AS origin_id,
  if(isNaN(e.latitude), NULL, e.latitude) AS origin_latitude,
  if(isNaN(e.longitude), NULL, e.longitude) AS origin_longitude,
  e.country AS origin_country,
  e.city AS origin_city,
  e.postal AS origin_postal,
  e.company AS origin_company,
  e.company_domain AS origin_domain,
  e.connection_type AS origin_connection_type,
  lower(hex(reinterpretAsFixedString(e.event_id))) AS id,
  if(e.kind = 'pixel', toString(e.artifact), '') AS pixel,
  e.platform AS platform,
  e.client AS client,
  e.client_version AS client_version,
  e.state AS origin_state,
  if(e.endpoint_id = toFixedString('', 16), '', lower(hex(e.endpoint_id))) AS endpoint_id
FROM events AS e
WHERE e.artifact IN (artifacts) AND e.date >= {start:Date} AND e.date < {end:Date} AND e.sign > 0
