import { assetUrl } from "../../schemas/asset.js";
import { BREAKDOWN_LIST, type ValueBreakdown } from "../../schemas/contracts/breakdowns.js";
import { migrationOf, readSqlFiles, type Migration } from "../../schemas/migrations.js";
import { sqlName } from "../queries/sql-literals.js";

/**
 * The tables of this folder's files, those of the breakdowns, and the files of `changes`, a folder that may
 * be missing. In `{deduplication(inserts)}` the runner spells the settings of a table.
 */
export async function readMigrations(): Promise<Migration[]> {
  const tables = await readSqlFiles(assetUrl("aggregate/clickhouse/"));
  const changes = await readSqlFiles(assetUrl("aggregate/clickhouse/changes/"), "changes/");
  const breakdowns = BREAKDOWN_LIST.filter((each) => "values" in each && each.table !== OWN_FILE);
  return [...tables, ...(breakdowns as ValueBreakdown[]).map(breakdownMigration), ...changes];
}

/** An event has many values of this one: 09-variables.sql. */
const OWN_FILE = "variables";

/**
 * The table and the view of a breakdown. Counts events that exist; the roles enrich and jobs must be stopped
 * then, or an event in between counts twice or not at all. Subtracts what is in the table, so a second run
 * adds nothing. Each run has a token of its own: that of equal numbers could drop a later insert.
 */
export function breakdownMigration(breakdown: ValueBreakdown): Migration {
  const table = sqlName(breakdown.table);
  const columns = breakdown.values.map(({ column }) => sqlName(column));
  const list = columns.join(", ");
  return migrationOf(
    `breakdown-${table}`,
    `CREATE TABLE IF NOT EXISTS ${table}
(
  package UUID,
  date Date,
  ${columns.map((column) => `${column} LowCardinality(String),`).join("\n  ")}
  total Int64,
  automated_total Int64
)
ENGINE = SummingMergeTree((total, automated_total))
ORDER BY (package, date, ${list})
SETTINGS {deduplication(10000)};

CREATE MATERIALIZED VIEW IF NOT EXISTS ${table}_view TO ${table} AS
${selectCounts(breakdown)};

${insertMissing({ table, keys: `package, date, ${list}`, sums: SUMS, select: selectCounts(breakdown) })}
SETTINGS async_insert = 0, insert_deduplication_token = '{unique}';
`,
  );
}

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
export function insertMissing({ table, keys, sums, select }: DailyTable, where = ""): string {
  return `INSERT INTO ${table} (${keys}, ${sums.join(", ")})
SELECT ${keys}, ${sums.map((sum) => `sum(counted.${sum}) AS missing_${sum}`).join(", ")}
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

const SUMS = ["total", "automated_total"];

/** Every table of daily sums. */
export async function dailyTables(): Promise<DailyTable[]> {
  const texts = (await readMigrations()).map(({ text }) => text);
  return texts.flatMap((text) => {
    const view =
      /^CREATE MATERIALIZED VIEW IF NOT EXISTS \w+ TO (\w+) AS\n([^;]+ AS \w*total\n[^;]+\nGROUP BY ([^;]+));/m.exec(
        text,
      );
    if (view === null) return [];
    const [, table = "", select = "", keys = ""] = view;
    const sums = [...select.matchAll(/\bsum(?:If)?\(.+?\) AS (\w+)/g)].map(([, sum = ""]) => sum);
    return [{ table, keys, sums, select }];
  });
}

/** An override takes one from the value and the day of the earlier version and adds one to those of the later. */
function selectCounts({ values, libraryType }: ValueBreakdown): string {
  const columns = values.map(({ column }) => sqlName(column)).join(", ");
  const ofType = libraryType === undefined ? "" : ` AND library_type = '${libraryType}'`;
  return `SELECT artifact AS package, date, ${columns}, sum(sign) AS total, sumIf(sign, automated != '') AS automated_total
FROM events
WHERE kind = 'package'${ofType} AND ${sqlName(values[0].column)} != ''
GROUP BY package, date, ${columns}`;
}
