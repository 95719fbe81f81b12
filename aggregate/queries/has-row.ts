import type { ClickHouse } from "../../schemas/shards.js";

/** Whether a SELECT answers any row. One that ends in `LIMIT 1` stops there. */
export async function hasRow(
  clickhouse: Pick<ClickHouse, "query">,
  { query, params }: { query: string; params: Record<string, unknown> },
): Promise<boolean> {
  const answer = await clickhouse.query({ query, query_params: params, format: "JSONEachRow" });
  return (await answer.json()).length > 0;
}
