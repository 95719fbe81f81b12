import type { Pool, PoolClient } from "pg";
import type { LogEntry } from "../../../schemas/records/import-log.js";
import type { EventImport } from "../../../schemas/records/import-store.js";
import type { FinishedImport } from "../../../schemas/records/settlement.js";
import { inTransaction } from "../../base/postgres/connection.js";
import { type Postgres, query } from "../../base/postgres/query.js";
import { IS_RETRACTING, IS_UNSETTLED } from "./import-record.js";
import { unsettleChunks } from "./uploads.js";

/** Sets `done` where every chunk is written and settled, and answers these imports. */
export async function finishComplete(pg: Postgres, importIds: readonly string[]): Promise<FinishedImport[]> {
  const text = `
    with locked as (
      select id from imports where id = any($1::uuid[]) and status = 'importing' order by id for update
    )
    update imports set status = 'done', updated_at = now(), finished_at = now()
    where id in (select id from locked) and status = 'importing' and chunks_written = chunks_total
      and chunks_settled = chunks_written
    returning id, (select name from owners where owners.id = owner_id) as owner, events_imported, events_failed,
      extract(epoch from finished_at - created_at)::float8 as seconds`;
  const rows = await query<FinishedRow>(pg, text, [importIds]);
  return rows.map(({ id, owner, events_imported, events_failed, seconds }) => ({
    id,
    owner,
    eventsImported: Number(events_imported),
    eventsFailed: Number(events_failed),
    seconds,
  }));
}

interface FinishedRow {
  id: string;
  owner: string;
  events_imported: string;
  events_failed: string;
  seconds: number;
}

export interface OwnedImport {
  ownerId: string;
  id: string;
}

/** Records the end of an import in the transaction of the change, with the name of its package or pixel. */
export type RecordEnding = (
  client: PoolClient,
  ended: { name: string; changes: { status?: "aborted"; retracted?: true } },
) => Promise<void>;

type Before = Exclude<EventImport["status"], "retracting">;

/** Undefined if the owner has no such import, else the status before. `retract` also removes what was imported. */
export async function abortImport(
  pg: Pool,
  { ownerId, id }: OwnedImport,
  { retract, record }: { retract: boolean; record?: RecordEnding },
): Promise<Before | undefined> {
  const end: End = { from: ["importing", "aborted"], status: "aborted", retract, record };
  return endImport(pg, { ownerId, id }, end);
}

/** Once; restores the events that it had overridden. Answers as `abortImport`. */
export async function retractImport(
  pg: Pool,
  { ownerId, id }: OwnedImport,
  { record }: { record?: RecordEnding } = {},
): Promise<Before | undefined> {
  return endImport(pg, { ownerId, id }, { from: ["done", "aborted"], retract: true, record });
}

export async function isRetracting(pg: Postgres, { ownerId, id }: OwnedImport): Promise<boolean> {
  const text = `select from imports i where i.owner_id = $1 and i.id = $2 and ${IS_RETRACTING}`;
  return (await query(pg, text, [ownerId, id])).length > 0;
}

interface End {
  /** Statuses that may end in this way. With any other status nothing changes. */
  from: readonly Before[];
  status?: "aborted";
  retract: boolean;
  record?: RecordEnding | undefined;
}

async function endImport(
  pg: Pool,
  { ownerId, id }: OwnedImport,
  { from, status, retract, record }: End,
): Promise<Before | undefined> {
  return inTransaction(pg, async (client) => {
    // The audit entry will lock the owner, and owners are always locked before their records.
    await query(client, "select from owners where id = $1 for key share", [ownerId]);
    const [found] = await query<Found>(client, FIND_IMPORT, [ownerId, id]);
    if (found === undefined || !from.includes(found.status)) return found?.status;
    await query(client, END_IMPORT, [id, status ?? found.status]);
    const retracts = retract && !found.retracted;
    if (retracts) await retractChunks(client, id);
    const aborts = status === "aborted" && found.status !== "aborted";
    const changes = { ...(aborts && { status }), ...(retracts && { retracted: true as const }) };
    if (aborts || retracts) await record?.(client, { name: found.name, changes });
    return found.status;
  });
}

interface Found {
  status: Before;
  retracted: boolean;
  /** The name of the package or pixel, or of the owner if there are several or the artifact was deleted. */
  name: string;
}

const FIND_IMPORT = `
  select i.status, i.retracted, coalesce(p.name, x.name, o.name) as name
  from imports i
  join owners o on o.id = i.owner_id
  left join packages p on p.id = i.artifact_id
  left join pixels x on x.id = i.artifact_id
  where i.owner_id = $1 and i.id = $2 for update of i`;

/** `asked_at` remains the time since which the exports are behind. */
const END_IMPORT = `
  update imports set status = $2, updated_at = now(),
    finished_at = case when status = 'importing' then now() else finished_at end,
    asked_at = case when ${IS_UNSETTLED} then asked_at else now() end
  where id = $1`;

async function retractChunks(pg: Postgres, id: string): Promise<void> {
  const text =
    "update imports set retracted = true, chunks_settled = 0, entries = entries || $2::jsonb where id = $1";
  await query(pg, text, [id, JSON.stringify([RETRACTED])]);
  await unsettleChunks(pg, id);
}

const RETRACTED: LogEntry = {
  class: "info",
  type: "retracted",
  human_friendly_message: "All events of this import were retracted",
  line: 0,
};
