import type { Pool } from "pg";
import { v7 as uuidv7 } from "uuid";
import {
  UPLOAD_LEASE_SECONDS,
  type EventImport,
  type ImportStatus,
} from "../../../schemas/records/import-store.js";
import { Problem } from "../../../schemas/problem.js";
import { auditValues, insertAuditEntries, type AuditEntry } from "../accounts/audit-entries.js";
import type { Page } from "../page.js";
import { query, type Postgres } from "../query.js";
import { importRecord, selectImport, STATUS, type ImportRow } from "./import-record.js";
import { findRepeatedImport, insertImportKey, type ImportKey } from "./import-keys.js";
import { inTransaction } from "../connection.js";

export const ACTIVE_IMPORTS_MAX = 15;
const RETRY_AFTER_SECONDS = 10;

export interface NewImport {
  ownerId: string;
  accountId: string;
  artifactKind: "package" | "pixel" | "any";
  /** UUID; empty if each line names its target. */
  artifactId: string;
  /** The additional token that starts it, if any. */
  tokenName?: string | undefined;
}

/** A new import, or the one of an earlier start with the same key. */
export interface StartedImport {
  id: string;
  repeated: boolean;
}

export interface StartOptions {
  idempotency?: ImportKey | undefined;
  /** The audit entry of a new import; not written for an earlier one. */
  audit?: (id: string) => AuditEntry;
}

/**
 * Inserts an import, or finds the one of the same `idempotency` key. The owner's row is locked while active imports are
 * counted, so that concurrent starts cannot exceed the limit.
 * @throws Problem too-many-active-imports
 */
export async function insertImport(
  pg: Pool,
  started: NewImport,
  { idempotency, audit }: StartOptions = {},
): Promise<StartedImport> {
  const id = uuidv7();
  const start = { ...started, id, entry: audit?.(id) };
  if (idempotency === undefined) {
    await startImport(pg, start);
    return { id, repeated: false };
  }
  return inTransaction(pg, async (client) => {
    await query(client, "select 1 from owners where id = $1 for update", [started.ownerId]);
    const earlier = await findRepeatedImport(client, idempotency);
    if (earlier !== undefined) return { id: earlier, repeated: true };
    await startImport(client, start);
    await insertImportKey(client, idempotency, id);
    return { id, repeated: false };
  });
}

/** One statement: the owner stays locked for no longer than PostgreSQL takes for it. */
async function startImport(
  pg: Postgres,
  { id, ownerId, accountId, artifactKind, artifactId, tokenName, entry }: NewImport & AuditedStart,
): Promise<void> {
  const artifact = artifactId === "" ? null : artifactId;
  const values = [
    ...[id, ownerId, accountId, artifactKind, artifact, UPLOAD_LEASE_SECONDS],
    ...[tokenName ?? null, ACTIVE_IMPORTS_MAX],
  ];
  const started =
    entry === undefined
      ? await query(pg, `select from ${START} where started`, values)
      : await query(pg, START_AUDITED, [...values, ...auditValues(entry)]);
  if (started.length === 0) throw tooManyActiveImports();
}

interface AuditedStart {
  id: string;
  entry: AuditEntry | undefined;
}

const START = "start_import($1, $2, $3, $4, $5, $6, $7, $8) as started";
const START_AUDITED = `
  with start as materialized (select started from ${START})
  ${insertAuditEntries(9)} from start where started returning 1`;

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

/** What an import goes into, and whether the account started it. */
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
      i.owner_id <> $2 and exists (
        select from package_permissions x join packages p on p.id = x.package_id
        left join memberships m on m.organization_id = i.owner_id and m.account_id = x.account_id
        where p.owner_id = i.owner_id and x.account_id = $2 and x.level = 'blocked'
          and m.role is distinct from 'owner') as "isBlocked"
    from imports i where i.id = $1`;
  const [row] = await query<ImportedInto & Record<string, unknown>>(pg, text, [id, accountId]);
  return row;
}

/** Which imports a list shall have; all of them without. */
export interface ImportFilter {
  status?: ImportStatus | undefined;
  /** Only imports into this package or pixel. */
  artifact?: { kind: "package" | "pixel"; id: string } | undefined;
}

/**
 * Omits imports into packages that the account is blocked from; an owner is never blocked. Returns one import more than
 * the page if there is a next page.
 */
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

/** Whether the account $4 is blocked from the package of the import `i`. */
const IS_BLOCKED = `
  i.artifact_kind = 'package' and i.owner_id <> $4 and exists (
    select from package_permissions x
    left join memberships m on m.organization_id = i.owner_id and m.account_id = x.account_id
    where x.package_id = i.artifact_id and x.account_id = $4 and x.level = 'blocked'
      and m.role is distinct from 'owner'
  )`;
