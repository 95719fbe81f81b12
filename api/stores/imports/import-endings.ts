import type { Pool, PoolClient } from "pg";
import type { LogEntry } from "../../../schemas/records/import-log.js";
import type { EventImport } from "../../../schemas/records/import-store.js";
import { inTransaction } from "../connection.js";
import { query, type Postgres } from "../query.js";
import { unsettleChunks } from "./uploads.js";

export interface OwnedImport {
  ownerId: string;
  id: string;
}

/** What became of an import, and what it goes into, by name. Runs in the transaction of the change, if there is one. */
export type RecordEnding = (
  client: PoolClient,
  ended: { name: string; changes: { status?: "aborted"; retracted?: true } },
) => Promise<void>;

/** What an import was when its end was asked for. */
type Before = EventImport["status"];

/**
 * Stops what has not been imported; `retract` takes back what has. A second abort may still retract.
 * @returns the status before, or undefined where the owner has no such import
 */
export async function abortImport(
  pg: Pool,
  { ownerId, id }: OwnedImport,
  { retract, record }: { retract: boolean; record?: RecordEnding },
): Promise<Before | undefined> {
  const end: End = { from: ["importing", "aborted"], status: "aborted", retract, record };
  return endImport(pg, { ownerId, id }, end);
}

/**
 * Takes every event of a finished or aborted import back, once; what it had overridden comes back.
 * @returns the status before, or undefined where the owner has no such import
 */
export async function retractImport(
  pg: Pool,
  { ownerId, id }: OwnedImport,
  { record }: { record?: RecordEnding } = {},
): Promise<Before | undefined> {
  return endImport(pg, { ownerId, id }, { from: ["done", "aborted"], retract: true, record });
}

interface End {
  /** Statuses that may end so; of any other, nothing changes. */
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
    // What the record's reference to the owner will need: the owner comes before what is the owner's.
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
  /** Of the package or pixel, or of the owner where it went into several or what it went into is gone. */
  name: string;
}

const FIND_IMPORT = `
  select i.status, i.retracted, coalesce(p.name, x.name, o.name) as name
  from imports i
  join owners o on o.id = i.owner_id
  left join packages p on p.id = i.artifact_id
  left join pixels x on x.id = i.artifact_id
  where i.owner_id = $1 and i.id = $2 for update of i`;

/** What it owed already is still owed since then. */
const END_IMPORT = `
  update imports set status = $2, updated_at = now(),
    asked_at = case when status = 'importing' or chunks_settled < chunks_written then asked_at else now() end
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
  human_friendly_message: "Every event of this import was taken back",
  line: 0,
};
