import type { Pool } from "pg";
import type { LogEntry } from "../../schemas/import-log.js";
import type { EventImport } from "../../schemas/import-store.js";
import { inTransaction } from "./connection.js";
import { query, type Postgres } from "./query.js";
import { unsettleChunks } from "./uploads.js";

export interface OwnedImport {
  ownerId: string;
  id: string;
}

/** What an import was when its end was asked for. */
type Before = EventImport["status"];

/**
 * Stops what has not been imported; `retract` takes back what has. A second abort may still retract.
 * @returns the status before, or undefined where the owner has no such import
 */
export async function abortImport(
  pg: Pool,
  { ownerId, id }: OwnedImport,
  { retract }: { retract: boolean },
): Promise<Before | undefined> {
  return endImport(pg, { ownerId, id }, { from: ["importing", "aborted"], status: "aborted", retract });
}

/**
 * Takes every event of a finished or aborted import back, once; what it had overridden comes back.
 * @returns the status before, or undefined where the owner has no such import
 */
export async function retractImport(pg: Pool, { ownerId, id }: OwnedImport): Promise<Before | undefined> {
  return endImport(pg, { ownerId, id }, { from: ["done", "aborted"], retract: true });
}

interface End {
  /** Statuses that may end so; of any other, nothing changes. */
  from: readonly Before[];
  status?: "aborted";
  retract: boolean;
}

async function endImport(
  pg: Pool,
  { ownerId, id }: OwnedImport,
  { from, status, retract }: End,
): Promise<Before | undefined> {
  return inTransaction(pg, async (client) => {
    const text = "select status, retracted from imports where owner_id = $1 and id = $2 for update";
    const [found] = await query<{ status: Before; retracted: boolean }>(client, text, [ownerId, id]);
    if (found === undefined || !from.includes(found.status)) return found?.status;
    await query(client, END_IMPORT, [id, status ?? found.status]);
    if (retract && !found.retracted) await retractChunks(client, id);
    return found.status;
  });
}

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
