import type { Pool } from "pg";
import type { ReceiveDependencies } from "../../../ingest/import/receive-import.js";
import type { LogEntry } from "../../../schemas/records/import-log.js";
import {
  type CompletedUpload,
  type EventImport,
  type Received,
  UPLOAD_LEASE_SECONDS,
} from "../../../schemas/records/import-store.js";
import { inTransaction } from "../../base/postgres/connection.js";
import { type Postgres, query } from "../../base/postgres/query.js";
import { inOwnerGroups } from "./start-imports.js";
import { type ImportRow, importRecord, selectImport } from "./import-record.js";

/** More than run of an owner at a time. */
const UPLOADS_AT_ONCE_MAX = 100;

/** `onInterrupted` is called once for one that broke off. Uploads of an owner that end together share a transaction. */
export function uploadStore(
  pg: Pool,
  onInterrupted: () => void = () => undefined,
): ReceiveDependencies["uploads"] {
  const complete = (uploads: readonly CompletedUpload[]) => completeUploads(pg, uploads);
  return {
    renewLease: (importId, received) => renewLease(pg, importId, received),
    completeUpload: inOwnerGroups(complete, UPLOADS_AT_ONCE_MAX),
    async interruptUpload(importId, upload) {
      if ((await interruptUpload(pg, importId, upload)) > 0) onInterrupted();
    },
    putLogEnds: (importId, logEnds) => putLogEnds(pg, importId, logEnds),
    removeUpload: (importId) => removeUpload(pg, importId),
  };
}

async function renewLease(
  pg: Postgres,
  importId: string,
  { bytes, bytesUnpacked, lines, stamp }: Received,
): Promise<boolean> {
  const rows = await query(
    pg,
    `update imports set upload_lease = now() + make_interval(secs => $2), updated_at = now(), bytes = $3,
       bytes_unpacked = $4, lines_received = $5, last_stamp = greatest(last_stamp, $6)
     where id = $1 and status = 'importing' returning id`,
    [importId, UPLOAD_LEASE_SECONDS, bytes, bytesUnpacked, lines, stamp],
  );
  return rows.length > 0;
}

/** Undefined for those that were aborted. */
async function completeUploads(
  pg: Postgres,
  uploads: readonly CompletedUpload[],
): Promise<(EventImport | undefined)[]> {
  const rows = await query<ImportRow>(pg, COMPLETE_UPLOADS, [
    uploads.map(({ importId }) => importId),
    uploads.map(({ chunksTotal }) => chunksTotal),
    uploads.map(({ bytes }) => bytes),
    uploads.map(({ bytesUnpacked }) => bytesUnpacked),
    uploads.map(({ lines }) => lines),
    uploads.map(({ stamp }) => stamp),
    uploads.map(({ logEnds }) => textOf(logEnds)),
  ]);
  const records = new Map(rows.map((row) => [row.id, importRecord(row)]));
  return uploads.map(({ importId }) => records.get(importId));
}

/** Locks the imports in the order of their ids, as every statement on several imports does. */
const COMPLETE_UPLOADS = `
  with uploaded as (
    select * from unnest($1::uuid[], $2::int[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[])
      as uploaded (id, chunks, bytes, unpacked, lines, stamp, ends)
  ), locked as (
    select id from imports where id = any($1::uuid[]) and status = 'importing' order by id for update
  ), completed as (
    update imports i set chunks_total = u.chunks, updated_at = now(), bytes = u.bytes,
      bytes_unpacked = u.unpacked, lines_received = u.lines,
      last_stamp = greatest(i.last_stamp, u.stamp), log_ends = u.ends::bigint[]
    from uploaded u
    where i.id = u.id and i.id in (select id from locked) returning i.*
  )
  ${selectImport("completed")}`;

/** PostgreSQL has no arrays of arrays of several lengths. */
function textOf(ends: readonly number[] | undefined): string | null {
  return ends === undefined ? null : `{${ends.join(",")}}`;
}

async function putLogEnds(pg: Postgres, importId: string, logEnds: Received["logEnds"]): Promise<void> {
  await query(pg, "update imports set log_ends = $2::bigint[] where id = $1", [importId, textOf(logEnds)]);
}

async function interruptUpload(
  pg: Pool,
  importId: string,
  { reason, bytes, bytesUnpacked, lines, logEnds }: Received & { reason: string },
): Promise<number> {
  await putLogEnds(pg, importId, logEnds);
  const received = "bytes = $3, bytes_unpacked = $4, lines_received = $5";
  const values = [interrupted(reason), importId, bytes, bytesUnpacked, lines];
  return interruptUploads(pg, "id = $2", values, received);
}

/** As if it had never begun: its audit entry goes as well, which is younger than it. */
async function removeUpload(pg: Postgres, importId: string): Promise<void> {
  const text = `
    with removed as (
      delete from imports where id = $1 returning id, owner_id
    )
    delete from audit_entries e using removed r
    where e.owner_id = r.owner_id and e.id > r.id and e.target_id = r.id::text`;
  await query(pg, text, [importId]);
}

/** Aborts uploads with an expired lease: their process died or lost its database. Answers how many. */
export function abortAbandonedUploads(pg: Pool): Promise<number> {
  return interruptUploads(pg, "upload_lease < now()", [
    interrupted("the server stopped or lost its database before the upload was complete"),
  ]);
}

/** Aborts all uploads. Only for a program that runs alone, before it accepts any. Answers how many. */
export function abortEveryUpload(pg: Pool): Promise<number> {
  return interruptUploads(pg, "true", [interrupted("the server stopped")]);
}

function interruptUploads(
  pg: Pool,
  which: string,
  values: readonly unknown[],
  received = "bytes = bytes",
): Promise<number> {
  return inTransaction(pg, async (client) => {
    const text = `
      update imports set status = 'aborted', retracted = true, updated_at = now(), finished_at = now(),
        chunks_settled = 0, entries = entries || $1::jsonb, ${received}
      where ${which} and status = 'importing' and chunks_total is null returning id`;
    const ended = await query<{ id: string }>(client, text, values);
    for (const { id } of ended) await unsettleChunks(client, id);
    return ended.length;
  });
}

/** A statement of its own after the import's lock: it must see settlements that were committed while it waited. */
export async function unsettleChunks(pg: Postgres, importId: string): Promise<void> {
  await query(pg, "update import_chunks set settled = false where import_id = $1", [importId]);
}

function interrupted(reason: string): string {
  const entry: LogEntry = {
    class: "error",
    type: "upload-interrupted",
    human_friendly_message: `The upload was interrupted, and nothing was imported: ${reason}`,
    line: 0,
  };
  return JSON.stringify([entry]);
}
