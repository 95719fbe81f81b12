import type { LogEntry } from "../../schemas/import-log.js";
import { UPLOAD_LEASE_SECONDS, type UploadStore } from "../../schemas/import-store.js";
import { query, type Postgres } from "./query.js";

/** What an upload keeps in PostgreSQL: its lease while the body comes in, and how it ended. */
export function uploadStore(pg: Postgres): UploadStore {
  return {
    renewLease: (importId) => renewLease(pg, importId),
    completeUpload: (importId, chunksTotal) => completeUpload(pg, importId, chunksTotal),
    interruptUpload: (importId, reason) => interruptUpload(pg, importId, reason),
  };
}

async function renewLease(pg: Postgres, importId: string): Promise<boolean> {
  const rows = await query(
    pg,
    `update imports set upload_lease = now() + make_interval(secs => $2), updated_at = now()
     where id = $1 and status = 'importing' returning id`,
    [importId, UPLOAD_LEASE_SECONDS],
  );
  return rows.length > 0;
}

async function completeUpload(pg: Postgres, importId: string, chunksTotal: number): Promise<boolean> {
  const rows = await query(
    pg,
    `update imports set chunks_total = $2, updated_at = now() where id = $1 and status = 'importing' returning id`,
    [importId, chunksTotal],
  );
  return rows.length > 0;
}

async function interruptUpload(pg: Postgres, importId: string, reason: string): Promise<void> {
  await query(pg, interrupt("id = $2"), [interrupted(reason), importId]);
}

/** Uploads whose process died, as their lease tells. Answers their ids. */
export async function abortAbandonedUploads(pg: Postgres): Promise<string[]> {
  const reason = "the server stopped before the whole body had arrived";
  const rows = await query<{ id: string }>(pg, interrupt("upload_lease < now()"), [interrupted(reason)]);
  return rows.map(({ id }) => id);
}

/**
 * All chunks count as unsettled again: settlement takes back what they brought. Also those that are not settled yet:
 * they may become so while this waits for the import's row, and then this must still find them.
 */
function interrupt(which: string): string {
  return `
    with interrupted as (
      update imports set status = 'aborted', retracted = true, updated_at = now(), chunks_settled = 0,
        entries = entries || $1::jsonb
      where ${which} and status = 'importing' and chunks_total is null returning id
    ), unsettled as (
      update import_chunks set settled = false where import_id in (select id from interrupted)
    )
    select id from interrupted`;
}

function interrupted(reason: string): string {
  const entry: LogEntry = {
    class: "error",
    type: "upload-interrupted",
    human_friendly_message: `The upload ended early, nothing of it was imported: ${reason}`,
    line: 0,
  };
  return JSON.stringify([entry]);
}
