import type { ClickHouse } from "../../../schemas/shards.js";
import { noteApplied, type MigrationOptions } from "../migrate-clickhouse.js";
import { readMigrations } from "../read-migrations.js";

/** A server of the same shard whose tables are replicated and up to date. */
export interface Peer {
  /** In no database. */
  server: ClickHouse;
  database: string;
}

/**
 * Gives a new server the tables of a peer: they fetch what the other servers of the shard have. Copied, because a
 * replica must be made with the columns that the table has by now. Cut short anywhere, it can be called again.
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
