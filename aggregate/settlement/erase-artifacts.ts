import type { ClickHouseClient } from "@clickhouse/client";
import { readQuery } from "../read-query.js";

/**
 * Asks ClickHouse to erase every row of these packages and pixels (UUIDs) from every table. Answers whether there was
 * any: parts are rewritten in ClickHouse's own time, so call it again until there is none. Nothing may write or settle
 * these artifacts meanwhile.
 */
export async function eraseArtifacts(
  clickhouse: ClickHouseClient,
  artifacts: readonly string[],
): Promise<boolean> {
  let found = false;
  for (const table of await artifactTables(clickhouse))
    if (await eraseRows(clickhouse, { ...table, ids: artifacts })) found = true;
  return found;
}

/** The same for the log entries of these imports (UUIDs). */
export function eraseImportLogs(clickhouse: ClickHouseClient, imports: readonly string[]): Promise<boolean> {
  return eraseRows(clickhouse, { table: "import_log", column: "import_id", ids: imports });
}

async function eraseRows(
  clickhouse: ClickHouseClient,
  rows: ArtifactTable & { ids: readonly string[] },
): Promise<boolean> {
  if (!(await hasRows(clickhouse, rows))) return false;
  await clickhouse.command({
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

async function artifactTables(clickhouse: ClickHouseClient): Promise<ArtifactTable[]> {
  const answer = await clickhouse.query({
    query: await readQuery("settlement/artifact-tables"),
    format: "JSONEachRow",
  });
  return answer.json<ArtifactTable>();
}

async function hasRows(
  clickhouse: ClickHouseClient,
  { table, column, ids }: ArtifactTable & { ids: readonly string[] },
): Promise<boolean> {
  const answer = await clickhouse.query({
    query: "SELECT 1 FROM {table:Identifier} WHERE {column:Identifier} IN {ids:Array(UUID)} LIMIT 1",
    query_params: { table, column, ids },
    format: "JSONEachRow",
  });
  return (await answer.json()).length > 0;
}
