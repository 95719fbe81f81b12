import {
  type Breakdown,
  type ExportFormat,
  PACKAGE_NAME,
  withPackageName,
} from "../../schemas/contracts/aggregate.js";
import { type DateRange, storableRange } from "../../schemas/date-range.js";
import type { LibraryType } from "../../schemas/records/artifact.js";
import { FORMAT_SETTINGS, openRows, type ResultSource, type Rows, FORMAT_NAMES } from "./open-rows.js";
import { dailyAddresses, ONE_SNAPSHOT } from "./live-addresses.js";
import { nameLiterals, type NamedId, namesSql, sqlName, uuidsLiteral } from "./sql-literals.js";
import {
  BREAKDOWN_LIST,
  type BreakdownDeclaration,
  type TotalBreakdown,
  type ValueBreakdown,
} from "../../schemas/contracts/breakdowns.js";

export interface AggregatesQuery extends DateRange {
  packages: readonly ExportedPackage[];
  breakdowns: readonly Breakdown[];
  format?: ExportFormat;
  /** Whether lines of NDJSON have the package's name; rows of the other formats always have it. */
  named?: boolean;
  /** Whether there are several shards, and rows of a value on each. */
  isSharded: boolean;
  signal: AbortSignal;
  /** Compressed by ClickHouse. */
  zstd?: boolean;
}

export interface ExportedPackage extends NamedId {
  readonly libraryType: LibraryType;
}

/** The statement has the id and name of every package. */
const QUERY_BYTES_MAX = "67108864";

/**
 * By default each part of the table is read far ahead before the first line is sent. Measured with 742,000 lines: the first
 * byte comes after 0.27 s in place of 0.87, the last one after 3.1 in place of 2.5. Parquet is not sent before its end.
 */
const FIRST_LINES_EARLY = { read_in_order_use_buffering: 0, max_block_size: "8192" } as const;

/** AggregateV1, ordered by package, date, breakdown and value; see `openRows` for how it fails. */
export async function openAggregates(
  clickhouse: ResultSource,
  {
    packages,
    breakdowns,
    format = "ndjson",
    named = false,
    isSharded,
    signal,
    zstd,
    ...range
  }: AggregatesQuery,
): Promise<Rows> {
  const query = composeAggregates({ packages, breakdowns, format, named, isSharded });
  return openRows(clickhouse, {
    query,
    params: storableRange(range),
    signal,
    settings: {
      ...FORMAT_SETTINGS,
      ...ONE_SNAPSHOT,
      ...(format !== "parquet" && FIRST_LINES_EARLY),
      max_query_size: QUERY_BYTES_MAX,
    },
    zstd,
  });
}

export interface AggregatesStatement {
  packages: readonly ExportedPackage[];
  breakdowns: readonly string[];
  format: ExportFormat;
  named?: boolean;
  isSharded?: boolean;
}

/**
 * How often was each package downloaded each day, in all and by each breakdown? Takes `start` and `end`.
 * Settlement has moved overrides in these tables; a value that only overridden versions had sums to zero and
 * is left out. On one server lines flow in the order of the table: nothing of it is sorted or kept.
 */
export function composeAggregates(
  { packages, breakdowns, format, named = false, isSharded = false }: AggregatesStatement,
  list: readonly BreakdownDeclaration[] = BREAKDOWN_LIST,
): string {
  const asked = list.filter(({ name }) => breakdowns.includes(name));
  const nameSql = namesSql("toString(package)", packages);
  return [
    `WITH ${uuidsLiteral(packages.map(({ id }) => id))} AS packages`,
    `SELECT ${format === "ndjson" ? lineOf(list, named ? nameSql : undefined) : columnsOf(list, nameSql)}`,
    `FROM (\n${countsOf(asked, packages, isSharded).join("\nUNION ALL\n")}\n) AS counted`,
    "ORDER BY UUIDToNum(counted.package), counted.date, counted.breakdown, counted.value_1, counted.value_2",
    // NDJSON omits empty fields; tables need every column. So NDJSON lines are built here and sent raw.
    `FORMAT ${format === "ndjson" ? "TSVRaw" : FORMAT_NAMES[format]}`,
  ].join("\n");
}

function isTotal(breakdown: BreakdownDeclaration): breakdown is TotalBreakdown {
  return "addressField" in breakdown;
}

const RANGE = "package IN (packages) AND date >= {start:Date} AND date < {end:Date}";

function countsOf(
  asked: readonly BreakdownDeclaration[],
  packages: readonly ExportedPackage[],
  isSharded: boolean,
): string[] {
  const ofValues = asked.filter((each) => "values" in each);
  const where = [
    RANGE,
    `breakdown IN (${nameLiterals(ofValues)})`,
    ...ofValues.flatMap((each) => ofType(each, packages)),
  ];
  const read = isSharded ? addValues : readValues;
  return [
    ...(ofValues.length === 0 ? [] : [read(where.join(" AND "))]),
    ...asked.filter(isTotal).map(({ name }) => countTotal(name)),
  ];
}

/** SQL: a condition for a breakdown that is exported for one type of packages, where there are others. */
function ofType({ name, exportedFor }: ValueBreakdown, packages: readonly ExportedPackage[]): string[] {
  const ofIt = packages.filter(({ libraryType }) => libraryType === exportedFor);
  if (exportedFor === undefined || ofIt.length === packages.length) return [];
  return [`(breakdown != '${sqlName(name)}' OR package IN ${uuidsLiteral(ofIt.map(({ id }) => id))})`];
}

/** FINAL merges rows of a value as they are read, so they keep the order of the table; GROUP BY would lose it. */
function readValues(where: string): string {
  return `SELECT package, date, breakdown, value_1, value_2, total AS amount, toUInt64(0) AS addresses
FROM breakdown_values FINAL
WHERE ${where} AND total > 0`;
}

function addValues(where: string): string {
  return `SELECT package, date, breakdown, value_1, value_2, sum(total) AS amount, toUInt64(0) AS addresses
FROM breakdown_values
WHERE ${where}
GROUP BY package, date, breakdown, value_1, value_2
HAVING amount > 0`;
}

function countTotal(name: string): string {
  return `SELECT package, date, toLowCardinality('${sqlName(name)}') AS breakdown, toLowCardinality('') AS value_1, '' AS value_2,
  sum(downloads) AS amount, sum(distinct_addresses) AS addresses
FROM
(
  SELECT package, date, sum(total) AS downloads, 0 AS distinct_addresses
  FROM totals
  WHERE ${RANGE}
  GROUP BY package, date
  UNION ALL
  SELECT package, date, 0 AS downloads, addresses AS distinct_addresses
  FROM (${dailyAddresses(RANGE)})
)
GROUP BY package, date
HAVING amount > 0`;
}

/** A line of AggregateV1. A breakdown that is not in the list fails the query: it has no fields to be written with. */
function lineOf(list: readonly BreakdownDeclaration[], nameSql: string | undefined): string {
  const fields = list.map((each) => `breakdown = '${sqlName(each.name)}', ${fieldsOf(each)},`);
  return `concat(
  '{"breakdown":"', breakdown, '","date":"', toString(date), '","package":"', toString(package), '","total":', toString(amount),
  multiIf(
    ${fields.join("\n    ")}
    toString(throwIf(breakdown != '', 'a breakdown that is not in the list'))),
  ${nameSql === undefined ? "" : `',"${PACKAGE_NAME}":', toJSONString(${nameSql}), `}'}') AS line`;
}

function fieldsOf(breakdown: BreakdownDeclaration): string {
  if (isTotal(breakdown)) return `concat(',"${sqlName(breakdown.addressField)}":', toString(addresses))`;
  const fields = breakdown.values.map(({ field, optional }, index) => {
    const written = `',"${sqlName(field)}":', toJSONString(value_${index + 1})`;
    return optional === true ? `if(value_${index + 1} = '', '', concat(${written}))` : written;
  });
  return `concat(${fields.join(", ")})`;
}

/** A row of a table, with a column for each field of each breakdown; those of other breakdowns hold nothing. */
function columnsOf(list: readonly BreakdownDeclaration[], nameSql: string): string {
  const columns = list.map((each) => {
    const isOf = `breakdown = '${sqlName(each.name)}'`;
    if (isTotal(each)) return [`if(${isOf}, addresses, NULL) AS ${sqlName(each.addressField)}`];
    return each.values.map(({ field, optional }, index) => {
      const isShown = optional === true ? `${isOf} AND value_${index + 1} != ''` : isOf;
      return `if(${isShown}, toString(value_${index + 1}), NULL) AS ${sqlName(field)}`;
    });
  });
  const named = withPackageName(columns, [`${nameSql} AS ${PACKAGE_NAME}`]);
  const fixed = [
    "toString(counted.breakdown) AS breakdown",
    "date",
    "toString(counted.package) AS package",
    "amount AS total",
  ];
  return [...fixed, ...named.flat()].join(",\n  ");
}
