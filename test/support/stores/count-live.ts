import type { TestClickHouse } from "./open-clickhouse.js";

/** Events with a live version, and versions that are live otherwise than once or beside another of their event. */
export async function countLive(
  { rows }: Pick<TestClickHouse, "rows">,
  packageId: string,
): Promise<{ events: number; notOnce: number }> {
  const [counted] = await rows<{ events: string; notOnce: string }>(`
    SELECT uniqExact(event_id) AS events, countIf(signs != 1) + count() - uniqExact(event_id) AS notOnce
    FROM (SELECT event_id, sum(sign) AS signs FROM events WHERE artifact = '${packageId}'
      GROUP BY event_id, version, import_id HAVING signs != 0)`);
  return { events: Number(counted?.events), notOnce: Number(counted?.notOnce) };
}
