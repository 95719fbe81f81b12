import type { ClickHouse } from "../../../schemas/shards.js";
import { noteApplied, type MigrationOptions } from "../migrate-clickhouse.js";
import { readMigrations } from "../read-migrations.js";

/** A server of the same shard whose tables are replicated and up to date. */
export interface Peer {
  server: ClickHouse;
  database: string;
}

/**
 * Gives a new server the tables of a peer, with the columns that they have by now. It can be called again.
 */
export async function makeReplica(
  tables: ClickHouse,
  { server, database }: Peer,
  { checkLock = async () => undefined }: Pick<MigrationOptions, "checkLock">,
): Promise<void> {
  for (const created of await tablesOf(server, database)) {
    await checkLock();
    await tables.command({ query: replicaStatement(created, database) });
  }
  for (const migration of await readMigrations()) await noteApplied(tables, migration);
}

/** Tables before the views that read from them and write to them. */
async function tablesOf(server: ClickHouse, database: string): Promise<string[]> {
  const answer = await server.query({
    query: `SELECT create_table_query AS created FROM system.tables
      WHERE database = {database:String} AND name != 'migrations' ORDER BY engine = 'MaterializedView', name`,
    query_params: { database },
    format: "JSONEachRow",
  });
  return (await answer.json<{ created: string }>()).map(({ created }) => created);
}

/** The statement that makes a table of another database again: without the name of that. */
export function replicaStatement(created: string, database: string): string {
  return created
    .replaceAll(`${database}.`, "")
    .replace(/^CREATE (TABLE|MATERIALIZED VIEW) /, "CREATE $1 IF NOT EXISTS ");
}

/** A server may fetch for hours. It is asked again after this long. */
const FETCH_SECONDS_MAX = 20;

/** Whether a server has all rows that others of its shard have in the replicated tables of this database. */
export async function hasFetched(clickhouse: ClickHouse): Promise<boolean> {
  const answer = await clickhouse.query({
    query: "SELECT table FROM system.replicas WHERE database = currentDatabase()",
    format: "JSONEachRow",
  });
  for (const { table } of await answer.json<{ table: string }>())
    if (!(await hasFetchedTable(clickhouse, table))) return false;
  return true;
}

async function hasFetchedTable(clickhouse: ClickHouse, table: string): Promise<boolean> {
  try {
    await clickhouse.command({
      query: "SYSTEM SYNC REPLICA {table:Identifier} LIGHTWEIGHT",
      query_params: { table },
      clickhouse_settings: { receive_timeout: FETCH_SECONDS_MAX },
    });
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && NOT_YET.has(String(error.code))) return false;
    throw error;
  }
}

const NOT_YET: ReadonlySet<string> = new Set([
  "159", // TIMEOUT_EXCEEDED
  "242", // TABLE_IS_READ_ONLY: it has only just been made
]);
