import type { LogEntry } from "../../../schemas/records/import-log.js";
import { query, type Postgres } from "../query.js";

/**
 * What the log of an import says about the import as a whole (`upload-interrupted`, `retracted`), in the order in
 * which it happened; what it says about lines is in ClickHouse.
 */
export async function readImportEntries(pg: Postgres, importId: string): Promise<LogEntry[]> {
  const text = "select entries from imports where id = $1";
  const [row] = await query<{ entries: LogEntry[] }>(pg, text, [importId]);
  return (row?.entries ?? []).map(inWireOrder);
}

/** `jsonb` has an order of its own for keys. */
export function inWireOrder(entry: LogEntry): LogEntry {
  const { class: entryClass, type, human_friendly_message, line, ...artifact } = entry;
  return { class: entryClass, type, human_friendly_message, line, ...artifact };
}
