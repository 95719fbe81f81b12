import { connectClickHouse } from "../../../deploy/stores/clickhouse/connect-clickhouse.js";

/**
 * The CPU seconds of a server's own threads since its start, as ClickHouse counts them: also on another machine, and merges
 * included. Source: OSCPUVirtualTimeMicroseconds in ProfileEvents.cpp.
 */
export async function readServerCpu(url: string): Promise<number> {
  await using server = connectClickHouse(url, { database: "default" });
  const answer = await server.query({
    query: "SELECT value / 1e6 AS seconds FROM system.events WHERE event = 'OSCPUVirtualTimeMicroseconds'",
    format: "JSONEachRow",
  });
  const [row] = await answer.json<{ seconds: number }>();
  return row?.seconds ?? 0;
}

/** Measures several servers from now on; the result answers the seconds of each since then. */
export async function startServerCpu(urls: readonly string[]): Promise<() => Promise<number[]>> {
  const before = await Promise.all(urls.map(readServerCpu));
  return async () => {
    const after = await Promise.all(urls.map(readServerCpu));
    return after.map((seconds, index) => seconds - (before[index] ?? 0));
  };
}
