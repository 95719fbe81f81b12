import { Problem } from "../../schemas/problem.js";
import { query, type Postgres } from "../postgres/query.js";

/** The `Idempotency-Key` of a caller, and the path of its request. */
export interface ImportKey {
  ownerId: string;
  key: string;
  path: string;
}

/**
 * The import that a start with this key made in the last 24 hours. An interrupted upload was never acknowledged and
 * leaves nothing, so it frees its key. The owner's row must be locked, so that starts with one key are serialised. One
 * read decides: the upload may be interrupted at any moment, without that lock.
 * @throws Problem idempotency-key-reused for another path, import-in-progress while the first is still uploading
 */
export async function findRepeatedImport(
  pg: Postgres,
  { ownerId, key, path }: ImportKey,
): Promise<string | undefined> {
  const [earlier] = await query<{ id: string; path: string; free: boolean; uploading: boolean }>(
    pg,
    `select i.id, k.path, ${EXPIRED} or (i.status = 'aborted' and i.retracted and i.chunks_total is null) as free,
       i.status = 'importing' and i.chunks_total is null as uploading
     from import_keys k join imports i on i.id = k.import_id where k.owner_id = $1 and k.key = $2`,
    [ownerId, key],
  );
  if (earlier === undefined) return undefined;
  if (earlier.free) {
    await query(pg, "delete from import_keys where owner_id = $1 and key = $2", [ownerId, key]);
    return undefined;
  }
  // Without the path: it may name a package that this caller may not know.
  if (earlier.path !== path)
    throw new Problem("idempotency-key-reused", "This Idempotency-Key was used for another path.");
  if (earlier.uploading)
    throw new Problem(
      "import-in-progress",
      `Import ${earlier.id} with this Idempotency-Key is still being uploaded.`,
    );
  return earlier.id;
}

/** Deletes keys of more than 24 hours ago. Answers how many. */
export async function deleteExpiredImportKeys(pg: Postgres): Promise<number> {
  const rows = await query<{ deleted: number }>(
    pg,
    `with deleted as (delete from import_keys k where ${EXPIRED} returning 1)
     select count(*)::float8 as deleted from deleted`,
  );
  return rows[0]?.deleted ?? 0;
}

const EXPIRED = "k.created_at < now() - interval '24 hours'";

export async function insertImportKey(
  pg: Postgres,
  { ownerId, key, path }: ImportKey,
  importId: string,
): Promise<void> {
  const text = "insert into import_keys (owner_id, key, path, import_id) values ($1, $2, $3, $4)";
  await query(pg, text, [ownerId, key, path, importId]);
}
