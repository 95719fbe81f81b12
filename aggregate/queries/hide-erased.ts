import { text } from "node:stream/consumers";
import type { ClickHouseSettings } from "@clickhouse/client";
import { isUuid } from "../../schemas/formats.js";
import { openRows, type ResultSource } from "./open-rows.js";
import { quotedName } from "./sql-literals.js";

/**
 * Settings that hide the versions that these erasures (UUIDs) have found from every read of events in a query: their rows
 * are deleted part by part, and a version's row may be gone before the one that removes it.
 */
export async function hideErased(
  clickhouse: ResultSource,
  erasures: readonly string[] = [],
  signal: AbortSignal,
): Promise<ClickHouseSettings> {
  if (erasures.length === 0) return {};
  if (!erasures.every(isUuid)) throw new Error("an erasure is not a UUID");
  const ids = erasures.map((id) => `\\'${id}\\'`).join(", ");
  // Every shard evaluates the condition, and none of them in this database.
  const versions = `${quotedName(await databaseOf(clickhouse, signal))}.erased_versions`;
  const isKept = `(event_id, version, import_id) NOT IN (SELECT event_id, version, import_id FROM ${versions} WHERE erasure IN (${ids}))`;
  const tables = ["events", "event_ids"].map((table) => `'${table}': '${isKept}'`);
  // As text, because the client library is only known by its types here.
  return { additional_table_filters: `{${tables.join(", ")}}` } as unknown as ClickHouseSettings;
}

async function databaseOf(clickhouse: ResultSource, signal: AbortSignal): Promise<string> {
  const query = "SELECT currentDatabase() FORMAT TSVRaw";
  return (await text(await openRows(clickhouse, { query, params: {}, signal }))).trimEnd();
}
