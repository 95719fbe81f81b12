import type { Pool } from "pg";
import { v7 as uuidv7 } from "uuid";
import type { EventImport, ImportStatus } from "../../../schemas/records/import-store.js";
import { Problem } from "../../../schemas/problem.js";
import type { AuditEntry } from "../../base/access/audit-entries.js";
import { type Page, type Postgres, query } from "../../base/postgres/query.js";
import { isBlocked } from "../../base/access/visible-packages.js";
import { type ImportRow, STATUS, importRecord, selectImport } from "./import-record.js";
import {
  type AskedImport,
  type ImportKey,
  type NewImport,
  type StartStamp,
  findRepeatedImport,
  insertImportKey,
  startImports,
} from "./start-imports.js";
import { inTransaction } from "../../base/postgres/connection.js";

const RETRY_AFTER_SECONDS = 10;

/** A new import, or the one of an earlier start with the same key. */
export type StartedImport =
  | { id: string; repeated: true }
  /** `stamp`: the receipt stamp that it begins at, after those of all of the owner's earlier imports. */
  | { id: string; repeated: false; stamp: number };

export interface StartOptions {
  idempotency?: ImportKey | undefined;
  /** The audit entry of a new import; not written for an earlier one. */
  audit?: (id: string) => AuditEntry;
  /** Starts an import that has no key; by default in a transaction of its own. */
  start?: (asked: AskedImport) => Promise<StartStamp>;
}

/** Locks the owner while active imports are counted. Throws `too-many-active-imports`. */
export async function insertImport(
  pg: Pool,
  started: NewImport,
  { idempotency, audit, start = (asked) => startAlone(pg, asked) }: StartOptions = {},
): Promise<StartedImport> {
  const id = uuidv7();
  const asked = { ...started, id, entry: audit?.(id) };
  if (idempotency === undefined) return { id, repeated: false, stamp: stampOf(await start(asked)) };
  return inTransaction(pg, async (client) => {
    await query(client, "select 1 from owners where id = $1 for update", [started.ownerId]);
    const earlier = await findRepeatedImport(client, idempotency);
    if (earlier !== undefined) return { id: earlier, repeated: true };
    const [stamp] = await startImports(client, [asked]);
    await insertImportKey(client, idempotency, id);
    return { id, repeated: false, stamp: stampOf(stamp) };
  });
}

async function startAlone(pg: Postgres, asked: AskedImport): Promise<StartStamp> {
  const [stamp] = await startImports(pg, [asked]);
  return stamp;
}

function stampOf(stamp: StartStamp): number {
  if (stamp === undefined) throw tooManyActiveImports();
  return stamp;
}

/** The specification fixes the message. */
export function tooManyActiveImports(): Problem {
  return new Problem("too-many-active-imports", "too many active imports", {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

/** The specification's record; undefined if the owner has no such import. */
export async function readImport(
  pg: Postgres,
  { ownerId, id }: { ownerId: string; id: string },
): Promise<EventImport | undefined> {
  const [row] = await query<ImportRow>(pg, `${selectImport()} where i.owner_id = $1 and i.id = $2`, [
    ownerId,
    id,
  ]);
  return row && importRecord(row);
}

export interface ImportedInto {
  artifactKind: "package" | "pixel" | "any";
  /** Null where each line names one. */
  artifactId: string | null;
  isOwn: boolean;
  /** Whether the account is blocked from a package of the import's owner, without being an owner itself. */
  isBlocked: boolean;
}

export async function readImportedInto(
  pg: Postgres,
  { accountId, id }: { accountId: string; id: string },
): Promise<ImportedInto | undefined> {
  const text = `
    select i.artifact_kind as "artifactKind", i.artifact_id as "artifactId",
      coalesce(i.account_id = $2, false) as "isOwn",
      ${isBlocked({ account: "$2", owner: "i.owner_id", which: OF_OWNER })} as "isBlocked"
    from imports i where i.id = $1`;
  const [row] = await query<ImportedInto & Record<string, unknown>>(pg, text, [id, accountId]);
  return row;
}

const OF_OWNER = "blocked.package_id in (select id from packages where owner_id = i.owner_id)";

export interface ImportFilter {
  status?: ImportStatus | undefined;
  artifact?: { kind: "package" | "pixel"; id: string } | undefined;
}

/** Without those into packages that the account is blocked from. One more than the page if there is a next one. */
export async function listImports(
  pg: Postgres,
  {
    accountId,
    ownerId,
    page,
    filter,
  }: { accountId: string; ownerId: string; page: Page; filter: ImportFilter },
): Promise<EventImport[]> {
  const text = `${selectImport()}
    where i.owner_id = $1 and ($2::uuid is null or i.id < $2) and not (${IS_BLOCKED})
      and ${hasStatus(filter.status)}
      and ($6::text is null or (i.artifact_kind = $6 and i.artifact_id = $7::uuid))
    order by i.id desc limit $3`;
  const { status, artifact } = filter;
  const values = [
    ...[ownerId, page.after ?? null, page.perPage + 1, accountId],
    ...[status ?? null, artifact?.kind ?? null, artifact?.id ?? null],
  ];
  const rows = await query<ImportRow>(pg, text, values);
  return rows.map(importRecord);
}

/** SQL: whether the import `i` has the status $5. The few running imports of an owner have an index. */
function hasStatus(status: ImportStatus | undefined): string {
  return status === "importing"
    ? "i.status = 'importing' and $5::text is not null"
    : `($5::text is null or ${STATUS} = $5)`;
}

const IS_BLOCKED = `i.artifact_kind = 'package' and ${isBlocked({
  account: "$4",
  owner: "i.owner_id",
  which: "blocked.package_id = i.artifact_id",
})}`;
