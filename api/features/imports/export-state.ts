import { leastVersion } from "../../../schemas/records/event-id.js";
import type { UnsettledImports } from "../../../schemas/records/settlement.js";
import { REMOVED_BEFORE } from "../../base/postgres/removed-events.js";
import { type Postgres, query, utc } from "../../base/postgres/query.js";
import { IS_UNSETTLED } from "./import-record.js";

export interface ExportState {
  /** An export read now shows everything received, aborted or retracted before this time; ISO 8601 UTC. */
  completeThrough: string;
  unsettled: UnsettledImports;
  /** The first day whose events are kept; absent while all are. */
  eventsFrom?: string;
  /** When an import was last settled, or an erasure ended; empty before any was. */
  lastSettled: string;
}

/**
 * Read it before the export. Versions before `fromVersion` need no check: for an unfinished import it begins at the
 * last chunk that is settled without a gap, because receipts ascend. `changed` is whether anything changed since
 * `since`, the time of an earlier call.
 */
export async function readExportState(
  pg: Postgres,
  ownerIds: readonly string[],
  { since }: { since?: string } = {},
): Promise<ExportState> {
  const rows = await query<OwingImport>(pg, OWING, [ownerIds, since ?? null]);
  const imports = rows.flatMap(({ id }) => id ?? []);
  const retracted = rows.flatMap(({ id, retracted }) => (retracted ? (id ?? []) : []));
  const stamps = rows.map(({ settledStamp }) => BigInt(settledStamp ?? 0));
  const least = stamps.reduce((a, b) => (a < b ? a : b), stamps[0] ?? 0n);
  const fromVersion = leastVersion(least);
  const changed = rows[0]?.changed ?? true;
  const erasures = rows[0]?.erasures ?? [];
  const eventsFrom = rows[0]?.removedBefore ?? undefined;
  return {
    completeThrough: rows[0]?.through ?? "",
    unsettled: { imports, fromVersion, retracted, erasures, changed: changed || erasures.length > 0 },
    ...(eventsFrom !== undefined && { eventsFrom }),
    lastSettled: rows[0]?.lastSettled ?? "",
  };
}

interface OwingImport {
  through: string;
  changed: boolean;
  lastSettled: string | null;
  removedBefore: string | null;
  erasures: string[];
  id: string | null;
  retracted: boolean | null;
  settledStamp: string | null;
}

const OWING = `
  with owing as (
    select id, retracted, asked_at from imports
    where owner_id = any($1::uuid[]) and ${IS_UNSETTLED}
  )
  select ${utc("coalesce((select min(asked_at) from owing), now())")} as through,
    $2::timestamptz is not null and exists (
      select from imports where owner_id = any($1::uuid[]) and asked_at > $2::timestamptz - interval '2 seconds'
    ) as changed,
    (
      select max(at) from unnest($1::uuid[]) as owner (id), lateral (
        select max(settled_at) as at from imports where owner_id = owner.id
        union all select max(finished_at) from erasures where owner_id = owner.id
      ) settled
    )::text as "lastSettled",
    ${REMOVED_BEFORE} as "removedBefore",
    array(
      select id::text from erasures where owner_id = any($1::uuid[]) and finished_at is null
    ) as erasures,
    o.id, o.retracted,
    (
      select max(receipt_stamp) from (
        select receipt_stamp, sequence, bool_and(settled) over w as settled, row_number() over w as nth
        from import_chunks c where c.import_id = o.id
        window w as (order by sequence)
      ) chunks
      where settled and sequence = nth - 1
    )::text as "settledStamp"
  from (select 1) one left join owing o on true`;

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
