-- Which events had these packages and pixels on these days? One row an event, in no order.
-- `{columns}` stands for those of event-columns.ts. `artifacts` and `package_name` are given in front of the text: they may
-- be longer than a parameter can be.
-- An override is another version of its event, and settlement removes the earlier one. The condition of
-- events-removed.sql leaves that one out, or the setting `final`, which adds the signs up. While an import is not settled,
-- the conditions of events-unsettled.sql leave it out as well.
SELECT
  {columns}
FROM events AS e
WHERE e.artifact IN (artifacts) AND e.date >= {start:Date} AND e.date < {end:Date} AND e.sign > 0
