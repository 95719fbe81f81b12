import type { ClickHouse } from "../../../schemas/shards.js";

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
