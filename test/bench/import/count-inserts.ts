/** The inserts of enrichment into `events` so far, from the program's metrics. */
export async function countInserts(metricsUrl: string): Promise<number> {
  const text = await (await fetch(`${metricsUrl}/metrics`)).text();
  return parseInserts(text);
}

export function parseInserts(metrics: string): number {
  const [, count = 0] =
    /^clickhouse_insert_duration_seconds_count\{table="events"\} (\d+)$/m.exec(metrics) ?? [];
  return Number(count);
}
