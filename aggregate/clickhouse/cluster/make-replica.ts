import type { ClickHouse } from "../../../schemas/shards.js";
import { readMigrations } from "../read-migrations.js";
import {
  createDatabase,
  migrateClickHouse,
  noteApplied,
  type MigrationOptions,
} from "../migrate-clickhouse.js";
import { quotedName } from "../../queries/sql-literals.js";
import { replicated } from "../table-clauses.js";

/** A server without tables. */
export interface NewReplica {
  /** In no database. */
  server: ClickHouse;
  /** In the database that gets the tables, and has none. */
  tables: ClickHouse;
  /** In the database `scratchName`, which need not exist, and is dropped. */
  scratch: ClickHouse;
  scratchName: string;
}

/** A server of the same shard, in no database, whose tables are up to date. */
export interface Peer {
  server: ClickHouse;
  database: string;
}

/**
 * Gives a new server this program's tables, replicated: they fetch what the other servers of the shard have. Those of a peer
 * are copied, because a table keeps what it was made with: its partitions, say. The first server of a shard has no peer.
 * Migrations rename and redefine tables, which replicated ones cannot be. So they run in a database of their own, without
 * rows, and the tables that they end with are made here. Cut short anywhere, it can be called again.
 */
export async function makeReplica(
  { server, tables, scratch, scratchName }: NewReplica,
  { peer, known, checkLock = async () => undefined }: MigrationOptions & { peer?: Peer | undefined } = {},
): Promise<void> {
  const drop = `DROP DATABASE IF EXISTS ${quotedName(scratchName)} SYNC`;
  await server.command({ query: drop });
  if (peer === undefined) {
    await createDatabase(server, scratchName);
    await migrateClickHouse(scratch, { known, checkLock });
  }
  const like = peer ?? { server, database: scratchName };
  for (const created of await tablesOf(like.server, like.database)) {
    await checkLock();
    await tables.command({ query: replicaStatement(created, like.database) });
  }
  await server.command({ query: drop });
  for (const migration of known ?? (await readMigrations())) await noteApplied(tables, migration);
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

/** The statement that makes a table of another database again: without the name of that, and replicated. */
export function replicaStatement(created: string, database: string): string {
  return created
    .replaceAll(`${database}.`, "")
    .replace(/^CREATE (TABLE|MATERIALIZED VIEW) /, "CREATE $1 IF NOT EXISTS ")
    .replace(
      /\) ENGINE = (?!Replicated)(\w*MergeTree)/,
      (_, engine: string) => `) ENGINE = ${replicated(engine)}`,
    );
}
