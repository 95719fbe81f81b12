import type { ValueBreakdown } from "../../../schemas/contracts/breakdowns.js";
import { sqlName } from "../../queries/sql-literals.js";

/**
 * The text of a new breakdown's migration: its table, its view, and the count of earlier events. Authors write it to the
 * next file of the folder above (see print-breakdown.ts), where it stays as it is: later changes to the list or to this
 * function reach only new files.
 */
export function breakdownStatements(breakdown: ValueBreakdown): string {
  return `-- ${breakdown.question}
-- An override takes one from the value and the day of the earlier version and adds one to those of the later.
${tableAndView(breakdown)};

-- Counts earlier events. The roles enrich and jobs must be stopped: events and the table are read one after the other,
-- and an event that is inserted in between is counted twice or not at all.
-- Subtracts the numbers that are in the table, so a second run adds nothing. Deduplication is off, because it could drop
-- a later insert of equal numbers.
${insertEarlierCounts(breakdown)};
`;
}

function tableAndView({ table, values, ...counted }: ValueBreakdown): string {
  const columns = values.map(({ column }) => sqlName(column));
  return `CREATE {new_table(${sqlName(table)})}
(
  package UUID,
  date Date,
  ${columns.map((column) => `${column} LowCardinality(String),`).join("\n  ")}
  total Int64
)
ENGINE = {summing(total)}
ORDER BY (package, date, ${columns.join(", ")})
SETTINGS {deduplication(10000)};

CREATE {new_view(${sqlName(table)}_view)} TO ${sqlName(table)} AS
${selectCounts({ table, values, ...counted })}`;
}

function selectCounts({ values, libraryType }: ValueBreakdown): string {
  const columns = values.map(({ column }) => sqlName(column)).join(", ");
  const ofType = libraryType === undefined ? "" : ` AND library_type = '${libraryType}'`;
  return `SELECT artifact AS package, date, ${columns}, sum(sign) AS total
FROM events
WHERE kind = 'package'${ofType} AND ${sqlName(values[0].column)} != ''
GROUP BY package, date, ${columns}`;
}

function insertEarlierCounts(breakdown: ValueBreakdown): string {
  const table = sqlName(breakdown.table);
  const columns = breakdown.values.map(({ column }) => sqlName(column)).join(", ");
  return `INSERT INTO ${table} (package, date, ${columns}, total)
SELECT package, date, ${columns}, sum(counted.total) AS missing
FROM
(
  ${selectCounts(breakdown)}
  UNION ALL
  SELECT package, date, ${columns}, -sum(total) AS total
  FROM ${table}
  GROUP BY package, date, ${columns}
) AS counted
GROUP BY package, date, ${columns}
HAVING missing != 0
SETTINGS async_insert = 0, insert_deduplicate = 0`;
}
