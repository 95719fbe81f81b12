import { assetUrl } from "../../schemas/asset.js";
import {
  BREAKDOWN_LIST,
  type BreakdownDeclaration,
  type ValueBreakdown,
} from "../../schemas/contracts/breakdowns.js";
import { migrationOf, readSqlFiles, type Migration } from "../../schemas/migrations.js";
import { sqlName } from "../queries/sql-literals.js";

/**
 * The tables of this folder's files, the breakdowns, and the files of `changes`, a folder that may be missing. In
 * `{deduplication(inserts)}` the runner spells the settings of a table.
 */
export async function readMigrations(): Promise<Migration[]> {
  const tables = await readSqlFiles(assetUrl("aggregate/clickhouse/"));
  const changes = await readSqlFiles(assetUrl("aggregate/clickhouse/changes/"), "changes/");
  return [...tables, ...breakdownMigrations(), ...changes];
}

/**
 * Each breakdown makes the view of `breakdown_values` anew, with those before it in the list, and counts events that
 * exist. The roles enrich and jobs must be stopped then, or an event in between counts twice or not at all. Subtracts
 * what is in the table, so a second run adds nothing. Each run has a token of its own: that of equal numbers could drop
 * a later insert.
 */
export function breakdownMigrations(list: readonly BreakdownDeclaration[] = BREAKDOWN_LIST): Migration[] {
  const breakdowns = list.filter((each) => "values" in each);
  return breakdowns.map((breakdown, index) =>
    migrationOf(
      `breakdown-${sqlName(breakdown.name)}`,
      `DROP VIEW IF EXISTS ${VALUES}_view SYNC;

CREATE MATERIALIZED VIEW IF NOT EXISTS ${VALUES}_view TO ${VALUES} AS
${selectCounts(breakdowns.slice(0, index + 1))};

${insertMissing(
  { table: VALUES, keys: KEYS, sums: ["total", "automated_total"], select: selectCounts([breakdown]) },
  `WHERE breakdown = '${breakdown.name}'`,
)}
SETTINGS async_insert = 0, insert_deduplication_token = '{unique}';
`,
    ),
  );
}

const VALUES = "breakdown_values";
const KEYS = "package, date, breakdown, value_1, value_2";

/** The table that a view fills with daily sums, the columns that tell its rows apart, and the view's SELECT. */
export interface DailyTable {
  table: string;
  /** SQL: a list. The first is the UUID of the package or pixel. */
  keys: string;
  /** Columns of the view's sums. */
  sums: readonly string[];
  select: string;
}

/** SQL that inserts what a view's SELECT counts and its table does not, or too much. `where` leaves out rows of the table. */
export function insertMissing(daily: DailyTable, where = ""): string {
  return `INSERT INTO ${daily.table} (${daily.keys}, ${daily.sums.join(", ")})
${selectMissing(daily, where)}`;
}

/** The SELECT of the same. */
export function selectMissing({ table, keys, sums, select }: DailyTable, where: string): string {
  return `SELECT ${keys}, ${sums.map((sum) => `sum(counted.${sum}) AS missing_${sum}`).join(", ")}
FROM
(
  ${select}
  UNION ALL
  SELECT ${keys}, ${sums.map((sum) => `-sum(${sum}) AS ${sum}`).join(", ")}
  FROM ${table}
  ${where}
  GROUP BY ${keys}
) AS counted
GROUP BY ${keys}
HAVING ${sums.map((sum) => `missing_${sum} != 0`).join(" OR ")}`;
}

/** Every table of daily sums, with the view that it has at the end. */
export async function dailyTables(): Promise<DailyTable[]> {
  const tables = new Map<string, DailyTable>();
  for (const { text } of await readMigrations()) {
    const view =
      /^CREATE MATERIALIZED VIEW IF NOT EXISTS \w+ TO (\w+) AS\n([^;]+ AS \w*total\n[^;]+\nGROUP BY ([^;]+));/m.exec(
        text,
      );
    if (view === null) continue;
    const [, table = "", select = "", keys = ""] = view;
    const sums = [...select.matchAll(/\bsum(?:If)?\(.+?\) AS (\w+)/g)].map(([, sum = ""]) => sum);
    tables.set(table, { table, keys, sums, select });
  }
  return [...tables.values()];
}

/**
 * A row of each breakdown for an event, and one more for each variable. Measured beside a view for each breakdown: a
 * quarter of the processor time with inserts of 160 events, 1.2 times as much with 90,000. GROUPING SETS would take half of
 * that with 90,000, but the variables would need a UNION: once a backup is restored, ClickHouse refuses inserts into such a
 * view.
 * An override takes one from the value and the day of the earlier version and adds one to those of the later.
 */
function selectCounts(breakdowns: readonly ValueBreakdown[]): string {
  const single = breakdowns.filter(({ map }) => map === undefined).map(valuesOf);
  const maps = breakdowns.flatMap((each) => (each.map === undefined ? [] : [valuesOfMap(each, each.map)]));
  const arrays = [...(single.length === 0 ? [] : [`[\n    ${single.join(",\n    ")}\n  ]`]), ...maps];
  return `SELECT artifact AS package, date, counted.1 AS breakdown, counted.2 AS value_1, counted.3 AS value_2,
  sum(sign) AS total, sumIf(sign, automated != '') AS automated_total
FROM events
ARRAY JOIN arrayConcat(${arrays.join(", ")}) AS counted
WHERE kind = 'package' AND breakdown != ''
GROUP BY ${KEYS}`;
}

/** SQL: a breakdown and its values in an event. Without a name where the event does not count. */
function valuesOf({ name, values: [first, second], libraryType }: ValueBreakdown): string {
  const isCounted = `${sqlName(first.column)} != ''${ofType(libraryType, " AND ")}`;
  const values = [first, second].map((value) => (value === undefined ? "''" : sqlName(value.column)));
  return `(if(${isCounted}, '${sqlName(name)}', ''), ${values.join(", ")})`;
}

/** SQL: an array of the same. */
function valuesOfMap({ name, libraryType }: ValueBreakdown, map: string): string {
  const keys = `arrayMap((key, value) -> ('${sqlName(name)}', key, value), mapKeys(${map}), mapValues(${map}))`;
  return libraryType === undefined ? keys : `if(${ofType(libraryType)}, ${keys}, [])`;
}

function ofType(libraryType: string | undefined, before = ""): string {
  return libraryType === undefined ? "" : `${before}library_type = '${libraryType}'`;
}
