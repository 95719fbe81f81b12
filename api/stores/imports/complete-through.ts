import { query, utc, type Postgres } from "../query.js";

/**
 * The time up to which nothing older is still unsettled, ISO 8601 UTC: what was received, aborted or retracted
 * before it is in the exports, of one owner or of all. Asked before an export is read, it is true of that export. It
 * speaks of imports: live events are never overridden, so they are there as soon as they are enriched, but nobody tells
 * PostgreSQL of each; how far they are behind, `event_log_lag_records` says.
 */
export async function readCompleteThrough(pg: Postgres, ownerId?: string): Promise<string> {
  const text = `
    select ${utc("coalesce(min(asked_at), now())")} as through from imports
    where (status = 'importing' or chunks_settled < chunks_written) and ($1::uuid is null or owner_id = $1)`;
  const [row] = await query<{ through: string }>(pg, text, [ownerId ?? null]);
  return row?.through ?? "";
}
