import {
  type Breakdown,
  type ExportFormat,
  PACKAGE_NAME,
  withPackageName,
} from "../../schemas/contracts/aggregate.js";
import { type DateRange, storableRange } from "../../schemas/date-range.js";
import { FORMAT_SETTINGS, openRows, type ResultSource, type Rows, FORMAT_NAMES } from "./open-rows.js";
import { dailyAddresses, ONE_SNAPSHOT } from "./live-addresses.js";
import { type NamedId, namesSql, sqlName, uuidsLiteral } from "./sql-literals.js";
import {
  BREAKDOWN_LIST,
  type BreakdownDeclaration,
  type TotalBreakdown,
  type ValueBreakdown,
} from "../../schemas/contracts/breakdowns.js";

export interface AggregatesQuery extends DateRange {
  packages: readonly NamedId[];
  breakdowns: readonly Breakdown[];
  format?: ExportFormat;
  /** Whether lines of NDJSON have the package's name; rows of the other formats always have it. */
  named?: boolean;
  signal: AbortSignal;
  /** Compressed by ClickHouse. */
  zstd?: boolean;
}

/** The statement has the id and name of every package. */
const QUERY_BYTES_MAX = "67108864";

/** AggregateV1, ordered by package, date, breakdown and value; see `openRows` for how it fails. */
export async function openAggregates(
  clickhouse: ResultSource,
  { packages, breakdowns, format = "ndjson", named = false, signal, zstd, ...range }: AggregatesQuery,
): Promise<Rows> {
  const query = composeAggregates({ packages, breakdowns, format, named });
  return openRows(clickhouse, {
    query,
    params: storableRange(range),
    signal,
    settings: { ...FORMAT_SETTINGS, ...ONE_SNAPSHOT, max_query_size: QUERY_BYTES_MAX },
    zstd,
  });
}

export interface AggregatesStatement {
  packages: readonly NamedId[];
  breakdowns: readonly string[];
  format: ExportFormat;
  named?: boolean;
}

/**
 * How often was each package downloaded each day, in all and by each breakdown? Takes `start` and `end`.
 * Settlement has moved overrides in these tables; a value that only overridden versions had sums to zero and
 * is left out.
 */
export function composeAggregates(
  { packages, breakdowns, format, named = false }: AggregatesStatement,
  list: readonly BreakdownDeclaration[] = BREAKDOWN_LIST,
): string {
  const valueColumns = valueColumnsOf(list);
  const counted = list.filter(({ name }) => breakdowns.includes(name));
  const counts = counted.map((each) =>
    isTotal(each) ? countTotal(each, valueColumns) : countValues(each, valueColumns),
  );
  const nameSql = namesSql("package", packages);
  return [
    `WITH ${uuidsLiteral(packages.map(({ id }) => id))} AS packages`,
    `SELECT ${format === "ndjson" ? lineOf(list, named ? nameSql : undefined) : columnsOf(list, nameSql)}`,
    `FROM (\n${counts.join("\nUNION ALL\n")}\n)`,
    `ORDER BY package, date, breakdown, ${valueColumns.join(", ")}`,
    // NDJSON omits empty fields; tables need every column. So NDJSON lines are built here and sent raw.
    `FORMAT ${format === "ndjson" ? "TSVRaw" : FORMAT_NAMES[format]}`,
  ].join("\n");
}

function isTotal(breakdown: BreakdownDeclaration): breakdown is TotalBreakdown {
  return "addressField" in breakdown;
}

/** The columns `value_1`, `value_2`, ...: they hold the values of a row's breakdown. */
function valueColumnsOf(list: readonly BreakdownDeclaration[]): string[] {
  const most = Math.max(1, ...list.map((each) => (isTotal(each) ? 0 : each.values.length)));
  return Array.from({ length: most }, (_, index) => valueColumn(index));
}

function valueColumn(index: number): string {
  return `value_${index + 1}`;
}

const RANGE = "package IN (packages) AND date >= {start:Date} AND date < {end:Date}";

function countValues({ name, table, values }: ValueBreakdown, valueColumns: readonly string[]): string {
  const columns = values.map(({ column }) => sqlName(column));
  // Types are spelled out, so that they do not depend on which breakdowns stand beside this one.
  const shown = valueColumns.map((column, index) => `CAST(${columns[index] ?? "''"} AS String) AS ${column}`);
  return `SELECT toString(counted.package) AS package, date, '${sqlName(name)}' AS breakdown, ${shown.join(", ")},
  sum(counted.total) AS total, toUInt64(0) AS addresses
FROM ${sqlName(table)} AS counted
WHERE counted.${RANGE}
GROUP BY counted.package, date, ${columns.join(", ")}
HAVING total > 0`;
}

function countTotal({ name, table }: TotalBreakdown, valueColumns: readonly string[]): string {
  return `SELECT toString(counted.package) AS package, date, '${sqlName(name)}' AS breakdown,
  ${valueColumns.map((column) => `'' AS ${column}`).join(", ")},
  sum(downloads) AS total, sum(distinct_addresses) AS addresses
FROM
(
  SELECT package, date, sum(total) AS downloads, 0 AS distinct_addresses
  FROM ${sqlName(table)}
  WHERE ${RANGE}
  GROUP BY package, date
  UNION ALL
  SELECT package, date, 0 AS downloads, addresses AS distinct_addresses
  FROM (${dailyAddresses(RANGE)})
) AS counted
GROUP BY counted.package, date
HAVING total > 0`;
}

/** A line of AggregateV1. A breakdown that is not in the list fails the query: it has no fields to be written with. */
function lineOf(list: readonly BreakdownDeclaration[], nameSql: string | undefined): string {
  const fields = list.map((each) => `breakdown = '${sqlName(each.name)}', ${fieldsOf(each)},`);
  return `concat(
  '{"breakdown":"', breakdown, '","date":"', toString(date), '","package":"', package, '","total":', toString(total),
  multiIf(
    ${fields.join("\n    ")}
    toString(throwIf(breakdown != '', 'a breakdown that is not in the list'))),
  ${nameSql === undefined ? "" : `',"${PACKAGE_NAME}":', toJSONString(${nameSql}), `}'}') AS line`;
}

function fieldsOf(breakdown: BreakdownDeclaration): string {
  if (isTotal(breakdown)) return `concat(',"${sqlName(breakdown.addressField)}":', toString(addresses))`;
  const fields = breakdown.values.map(({ field, optional }, index) => {
    const written = `',"${sqlName(field)}":', toJSONString(${valueColumn(index)})`;
    return optional === true ? `if(${valueColumn(index)} = '', '', concat(${written}))` : written;
  });
  return `concat(${fields.join(", ")})`;
}

/** A row of a table, with a column for each field of each breakdown; those of other breakdowns hold nothing. */
function columnsOf(list: readonly BreakdownDeclaration[], nameSql: string): string {
  const columns = list.map((each) => {
    const isOf = `breakdown = '${sqlName(each.name)}'`;
    if (isTotal(each)) return [`if(${isOf}, addresses, NULL) AS ${sqlName(each.addressField)}`];
    return each.values.map(({ field, optional }, index) => {
      const isShown = optional === true ? `${isOf} AND ${valueColumn(index)} != ''` : isOf;
      return `if(${isShown}, ${valueColumn(index)}, NULL) AS ${sqlName(field)}`;
    });
  });
  const named = withPackageName(columns, [`${nameSql} AS ${PACKAGE_NAME}`]);
  return ["breakdown", "date", "package", "total", ...named.flat()].join(",\n  ");
}
