import { readRows } from "../common/read-rows.js";

/**
 * The CPU seconds of a server's own threads since its start, as ClickHouse counts them: also on another machine, and merges
 * included. Source: OSCPUVirtualTimeMicroseconds in ProfileEvents.cpp.
 */
async function readServerCpu(url: string): Promise<number> {
  const query =
    "SELECT value / 1e6 AS seconds FROM system.events WHERE event = 'OSCPUVirtualTimeMicroseconds'";
  const [row] = await readRows<{ seconds: number }>(url, query, { database: "default" });
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
