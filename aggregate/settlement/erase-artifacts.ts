import type { ClickHouse, Shard, Shards } from "../../schemas/shards.js";
import { isRewriting } from "../retention/delete-rows.js";
import { readQuery } from "../read-query.js";

/**
 * Asks ClickHouse to erase every row of these packages and pixels (UUIDs) from every table. Answers whether there was
 * any: parts are rewritten in ClickHouse's own time, so call it again until there is none. Nothing may write or settle
 * these artifacts meanwhile.
 */
export async function eraseArtifacts(all: Shards, artifacts: readonly string[]): Promise<boolean> {
  let found = false;
  for (const shard of all.shards)
    for (const table of await artifactTables(shard.tables))
      if (await eraseRows(shard, { ...table, ids: artifacts })) found = true;
  await all.requireEvery();
  return found;
}

/** The same for the log entries of these imports (UUIDs). */
export async function eraseImportLogs(all: Shards, imports: readonly string[]): Promise<boolean> {
  let found = false;
  for (const shard of all.shards)
    if (await eraseRows(shard, { table: "import_log", column: "import_id", ids: imports })) found = true;
  await all.requireEvery();
  return found;
}

/** Asks every server, and rejects if one is down: it has rows until it has rewritten its own parts. */
async function eraseRows(
  { servers, tables }: Shard,
  rows: ArtifactTable & { ids: readonly string[] },
): Promise<boolean> {
  const found = await Promise.all(servers.map((server) => hasRows(server, rows)));
  if (!found.includes(true)) return false;
  // Asked for already, mostly: asking every second would only rewrite the same parts once more.
  if (await isRewriting(tables, rows.table)) return true;
  await tables.command({
    query: "ALTER TABLE {table:Identifier} DELETE WHERE {column:Identifier} IN {ids:Array(UUID)}",
    query_params: { ...rows },
    clickhouse_settings: { mutations_sync: "0" },
  });
  return true;
}

interface ArtifactTable {
  table: string;
  /** Has the id of the artifact. */
  column: string;
}

async function artifactTables(clickhouse: ClickHouse): Promise<ArtifactTable[]> {
  const answer = await clickhouse.query({
    query: await readQuery("settlement/artifact-tables"),
    format: "JSONEachRow",
  });
  return answer.json<ArtifactTable>();
}

async function hasRows(
  clickhouse: ClickHouse,
  { table, column, ids }: ArtifactTable & { ids: readonly string[] },
): Promise<boolean> {
  const answer = await clickhouse.query({
    query: "SELECT 1 FROM {table:Identifier} WHERE {column:Identifier} IN {ids:Array(UUID)} LIMIT 1",
    query_params: { table, column, ids },
    format: "JSONEachRow",
  });
  return (await answer.json()).length > 0;
}
