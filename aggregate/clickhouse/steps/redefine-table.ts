import type { ClickHouse } from "../../../schemas/shards.js";
import { sqlName } from "../../queries/sql-literals.js";
import type { Migrating } from "../run-statement.js";

/**
 * Gives a table the engine, the order and the columns of the table `like`, for which ClickHouse has no ALTER. The table
 * keeps its UUID, and with it its rows and its deduplication log: an insert that was stored before is still dropped when
 * it is repeated. Its parts must be as `like` would write them, so a table that gets another order must be empty. Views
 * that read from the table forget it.
 *
 * A detached table can be attached under another definition, but only under another name, and its old name stays taken.
 * So that happens in a database of its own, which is dropped afterwards. Its name holds the UUID: cut short anywhere,
 * the next call goes on.
 */
export async function redefineTable(
  { clickhouse, run }: Migrating,
  { table, like }: { table: string; like: string },
): Promise<void> {
  const wanted = await findTable(clickhouse, { name: like });
  if (wanted === undefined) throw new Error(`there is no table ${like}`);
  const before = await findTable(clickhouse, { name: table });
  const isNew = before?.engine === wanted.engine;
  const scratch = await findScratch(clickhouse, table);
  if (isNew) return scratch === undefined ? undefined : run(`DROP DATABASE IF EXISTS \`${scratch}\` SYNC`);
  if (before !== undefined) {
    const made = scratch ?? (await scratchName(clickhouse, { table, uuid: before.uuid }));
    await run(`CREATE DATABASE IF NOT EXISTS \`${made}\` ENGINE = Atomic`);
    await run(`RENAME TABLE ${sqlName(table)} TO \`${made}\`.before`);
    return redefineTable({ clickhouse, run }, { table, like });
  }
  if (scratch === undefined) throw new Error(`there is no table ${table}`);
  if ((await findTable(clickhouse, { name: "before", database: scratch })) !== undefined)
    await run(`DETACH TABLE \`${scratch}\`.before PERMANENTLY SYNC`);
  if ((await findTable(clickhouse, { name: "after", database: scratch })) === undefined) {
    const uuid = scratch.slice(-UUID_LENGTH);
    await run(
      wanted.created.replace(/^CREATE TABLE \S+/, `ATTACH TABLE \`${scratch}\`.after UUID '${uuid}'`),
    );
  }
  await run(`RENAME TABLE \`${scratch}\`.after TO ${sqlName(table)}`);
  await run(`DROP DATABASE IF EXISTS \`${scratch}\` SYNC`);
}

const UUID_LENGTH = 36;

interface Table {
  uuid: string;
  /** With the order, and without the settings, which may change at any time. */
  engine: string;
  /** The statement that would create it. */
  created: string;
}

export async function findTable(
  clickhouse: ClickHouse,
  { name, database = "" }: { name: string; database?: string },
): Promise<Table | undefined> {
  const answer = await clickhouse.query({
    query: `SELECT uuid, extract(engine_full, '^(.*?)(?: SETTINGS |$)') AS engine, create_table_query AS created
      FROM system.tables
      WHERE database = if({database:String} = '', currentDatabase(), {database:String}) AND name = {name:String}`,
    query_params: { name, database },
    format: "JSONEachRow",
  });
  return (await answer.json<Table>())[0];
}

async function findScratch(clickhouse: ClickHouse, table: string): Promise<string | undefined> {
  const answer = await clickhouse.query({
    query: `SELECT name FROM system.databases
      WHERE startsWith(name, concat(currentDatabase(), '_', {table:String}, '_')) AND length(name) =
        length(currentDatabase()) + length({table:String}) + 2 + ${UUID_LENGTH}`,
    query_params: { table },
    format: "JSONEachRow",
  });
  return (await answer.json<{ name: string }>())[0]?.name;
}

async function scratchName(
  clickhouse: ClickHouse,
  { table, uuid }: { table: string; uuid: string },
): Promise<string> {
  const answer = await clickhouse.query({
    query: "SELECT concat(currentDatabase(), '_', {table:String}, '_', {uuid:String}) AS name",
    query_params: { table, uuid },
    format: "JSONEachRow",
  });
  const [row] = await answer.json<{ name: string }>();
  if (row === undefined) throw new Error("ClickHouse names no database");
  return row.name;
}
