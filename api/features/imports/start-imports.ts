import { UPLOAD_LEASE_SECONDS } from "../../../schemas/records/import-store.js";
import { type AuditEntry, auditRows, insertAuditEntries } from "../../base/access/audit-entries.js";
import { type Postgres, query } from "../../base/postgres/query.js";
import { inGroups } from "../../../schemas/async/share-work.js";
import { Problem } from "../../../schemas/problem.js";

export const ACTIVE_IMPORTS_MAX = 15;

export interface NewImport {
  ownerId: string;
  accountId: string;
  artifactKind: "package" | "pixel" | "any";
  /** UUID; empty if each line names its target. */
  artifactId: string;
  tokenName?: string | undefined;
  fileName?: string | undefined;
}

/** An import with its id and the entry that the audit log gets when it starts. */
export interface AskedImport extends NewImport {
  id: string;
  entry: AuditEntry | undefined;
}

/** The receipt stamp that a started import begins at; undefined where too many run. */
export type StartStamp = number | undefined;

/** In one statement, the owner is locked only shortly. Answers their stamps in their order. */
export async function startImports(pg: Postgres, asked: readonly AskedImport[]): Promise<StartStamp[]> {
  const [ownerId] = asked.map((one) => one.ownerId);
  const entries = asked.flatMap(({ entry }) => entry ?? []);
  const rows = await query<{ id: string; stamp: string | null }>(pg, START, [
    ownerId,
    JSON.stringify(asked.map(askedRow)),
    UPLOAD_LEASE_SECONDS,
    ACTIVE_IMPORTS_MAX,
    auditRows(entries),
  ]);
  const stamps = new Map(rows.map(({ id, stamp }) => [id, stamp]));
  return asked.map(({ id }) => {
    const stamp = stamps.get(id);
    return typeof stamp === "string" ? Number(stamp) : undefined;
  });
}

/** Starts single imports. Those of an owner that come while others of it start share one transaction. */
export function groupStarts(pg: Postgres): (asked: AskedImport) => Promise<StartStamp> {
  return inOwnerGroups((asked: readonly AskedImport[]) => startImports(pg, asked), ACTIVE_IMPORTS_MAX);
}

function askedRow({ id, accountId, artifactKind, artifactId, tokenName, fileName }: AskedImport) {
  const artifact = artifactId === "" ? null : artifactId;
  const [token, file] = [tokenName ?? null, fileName ?? null];
  return { id, account: accountId, kind: artifactKind, artifact, token, file };
}

const START = `
  with asked as materialized (
    select * from json_to_recordset($2::json)
      as asked (id uuid, account uuid, kind text, artifact uuid, token text, file text)
  ), start as materialized (
    select id, start_import(id, $1, account, kind, artifact, $3, token, file, $4)::text as stamp from asked
  ), noted as (${insertAuditEntries(5)} where target_id in (select id::text from start where stamp is not null))
  select id, stamp from start`;

/** As `inGroups`: items of one owner share a transaction. A store that is down is a Problem, which all of them have. */
export function inOwnerGroups<Item extends { ownerId: string }, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  itemsMax: number,
): (item: Item) => Promise<Result> {
  return inGroups(run, {
    keyOf: ({ ownerId }) => ownerId,
    itemsMax,
    isOfAll: (error) => error instanceof Problem,
  });
}

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
    throw new Problem(
      "idempotency-key-reused",
      "This Idempotency-Key was used for another path. Use a new key.",
    );
  if (earlier.uploading)
    throw new Problem(
      "import-in-progress",
      `Import ${earlier.id} with this Idempotency-Key is still being uploaded. Try again later.`,
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
