import type { Client } from "pg";

/** Lines of one import, none of them blank or broken. */
export interface SentLines {
  importId: string;
  lines: readonly string[];
}

/**
 * The lines of several imports in the order in which they count: by the receipt of their chunk, which the service
 * notes before it looks at a line, then by their place in the chunk. Chunks of two imports that were received in the
 * same millisecond share a place; then the greater import id comes last, in ClickHouse's order, which compares the
 * second half of a UUID first (https://clickhouse.com/docs/sql-reference/data-types/uuid).
 */
export async function linesByReceipt(pg: Client, imports: readonly SentLines[]): Promise<string[]> {
  const placed = [];
  for (const { importId, lines } of imports) {
    const { rows } = await pg.query<{ stamp: number; events: number }>(
      "select receipt_stamp::float8 as stamp, events from import_chunks where import_id = $1 order by sequence",
      [importId],
    );
    let next = 0;
    for (const { stamp, events } of rows) {
      const chunk = lines.slice(next, next + events);
      placed.push(...chunk.map((line, place) => ({ line, stamp, place, order: orderOf(importId) })));
      next += events;
    }
    if (next !== lines.length) throw new Error(`${next} of ${lines.length} lines are in chunks`);
  }
  placed.sort((a, b) => a.stamp - b.stamp || a.place - b.place || (a.order < b.order ? -1 : 1));
  return placed.map(({ line }) => line);
}

function orderOf(uuid: string): string {
  return uuid.slice(19) + uuid.slice(0, 19);
}
