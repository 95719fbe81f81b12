import { query, utc, type Postgres } from "../postgres/query.js";
import { IS_UNSETTLED } from "./import-record.js";

/**
 * The time up to which the exports are complete, of one owner or of all; ISO 8601 UTC. They contain everything that was
 * received, aborted or retracted before. Read it before the export. It covers imports only: live events are never
 * overridden and are exported once they are enriched. The metric `event_log_lag_records` shows how far they are behind.
 */
export async function readCompleteThrough(pg: Postgres, ownerId?: string): Promise<string> {
  const text = `
    select ${utc("coalesce(min(asked_at), now())")} as through from imports
    where ${IS_UNSETTLED} and ($1::uuid is null or owner_id = $1)`;
  const [row] = await query<{ through: string }>(pg, text, [ownerId ?? null]);
  return row?.through ?? "";
}
