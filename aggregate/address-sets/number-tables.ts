import type { ClickHouse } from "../../schemas/shards.js";
import { ONE_SNAPSHOT } from "../queries/live-addresses.js";

export interface NumberStatement {
  query: string;
  params?: Record<string, unknown>;
}

/**
 * Changes address_numbers or address_sets. ClickHouse runs one statement of an id at a time and refuses the second: also when
 * the process that began it died, or lost its lock. Uses one core and bounded memory.
 */
export async function changeNumbers(
  server: ClickHouse,
  { query, params = {} }: NumberStatement,
): Promise<void> {
  const answer = await server.query({ query: "SELECT currentDatabase() AS name", format: "JSONEachRow" });
  const [database] = await answer.json<{ name: string }>();
  await server.command({
    query,
    query_params: params,
    query_id: `numbers of addresses in ${database?.name}`,
    clickhouse_settings: {
      ...ONE_SNAPSHOT,
      async_insert: 0,
      wait_end_of_query: 1,
      max_threads: 1,
      max_insert_threads: "1",
      max_memory_usage: "1000000000",
      max_bytes_before_external_group_by: "300000000",
      mutations_sync: "1",
    },
  });
}
