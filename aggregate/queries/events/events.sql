-- Which events had these packages and pixels on these days? One row an event, in no order.
-- `{columns}` stands for those of event-columns.ts. `artifacts` and `package_name` are given in front of the text: they may
-- be longer than a parameter can be.
-- An override is another version of its event, and settlement removes the earlier one by a row whose sign is -1.
-- events-removed.sql leaves such a version out. While an import is not settled, events-unsettled.sql leaves the earlier
-- one out as well. A version whose rows must be added up is left out here and comes from events-restored.sql.
SELECT
  {columns}
FROM events AS e
WHERE e.artifact IN (artifacts) AND e.date >= {start:Date} AND e.date < {end:Date} AND e.sign > 0
