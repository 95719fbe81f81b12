import type { BreakdownDeclaration, ValueBreakdown } from "../../schemas/contracts/breakdowns.js";
import { sqlName } from "../queries/sql-literals.js";
import type { Clauses } from "./table-clauses.js";

/** The statements that a migration names for a breakdown of the list: `{breakdown(country)}`, say. */
export function breakdownClauses(list: readonly BreakdownDeclaration[]): Clauses {
  const find = (name: string): ValueBreakdown => {
    const found = list.find((each) => each.name === name);
    if (found === undefined || !("values" in found))
      throw new Error(`a migration names the breakdown ${name}, which is not in the list`);
    return found;
  };
  return {
    breakdown: (name) => tableAndView(find(name)),
    count_earlier: (name) => countEarlier(find(name)),
  };
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

/**
 * Counts events older than the view: all events minus what is counted already, so a second run adds nothing.
 * Deduplication is off, because it could drop a later insert of equal numbers.
 */
function countEarlier(breakdown: ValueBreakdown): string {
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
