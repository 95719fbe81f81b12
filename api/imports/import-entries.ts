import type { LogEntry } from "../../schemas/records/import-log.js";
import { query, type Postgres } from "../postgres/query.js";

/**
 * The log entries about the import as a whole (`upload-interrupted`, `retracted`), oldest first. Entries about lines
 * are in ClickHouse.
 */
export async function readImportEntries(pg: Postgres, importId: string): Promise<LogEntry[]> {
  const text = "select entries from imports where id = $1";
  const [row] = await query<{ entries: LogEntry[] }>(pg, text, [importId]);
  return (row?.entries ?? []).map(inWireOrder);
}

/** `jsonb` does not preserve the order of keys. */
export function inWireOrder(entry: LogEntry): LogEntry {
  const { class: entryClass, type, human_friendly_message, line, ...artifact } = entry;
  return { class: entryClass, type, human_friendly_message, line, ...artifact };
}
