import type { ClickHouse } from "../../schemas/shards.js";

/** When a server of ClickHouse started, in ms of its clock. Answers differ by less than a second while it runs. */
export async function startOf(server: ClickHouse): Promise<number> {
  const query = "SELECT toFloat64(toUnixTimestamp64Milli(now64(3)) - 1000 * toInt64(uptime())) AS started";
  const answer = await server.query({ query, format: "JSONEachRow" });
  const [row] = await answer.json<{ started: number }>();
  if (row === undefined) throw new Error("ClickHouse returned no start time");
  return row.started;
}
