import { connectClickHouse } from "../../../deploy/stores/clickhouse/connect-clickhouse.js";

/** The rows of one statement on a server, on a connection of its own. Counts may come as text. */
export async function readRows<Row>(
  url: string,
  query: string,
  { params = {}, ...options }: { database?: string; params?: Record<string, unknown> } = {},
): Promise<Row[]> {
  await using server = connectClickHouse(url, options);
  const answer = await server.query({ query, query_params: params, format: "JSONEachRow" });
  // Awaited here: the connection closes when this returns.
  return await answer.json<Row>();
}
