import type { Pool, PoolClient } from "pg";
import { v7 as uuidv7 } from "uuid";
import { LOG_SAMPLE_MAX, type LogEntry } from "../../../schemas/records/import-log.js";
import {
  REMOVED,
  UPLOAD_LEASE_SECONDS,
  type EventImport,
  type ImportStatus,
} from "../../../schemas/records/import-store.js";
import { Problem } from "../../../schemas/problem.js";
import type { Page } from "../page.js";
import { query, utc, type Postgres } from "../query.js";
import { inWireOrder } from "./import-entries.js";
import { IS_RETRACTING } from "./import-endings.js";
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
  /** Runs in the transaction that inserts the import; not called for an earlier one. */
  record?: (client: PoolClient, id: string) => Promise<void>;
}

/**
 * Inserts an import, or finds the one of the same `idempotency` key. The owner's row is locked while active imports are
 * counted, so that concurrent starts cannot exceed the limit.
 * @throws Problem too-many-active-imports
 */
export async function insertImport(
  pg: Pool,
  { ownerId, accountId, artifactKind, artifactId, tokenName }: NewImport,
  { idempotency, record }: StartOptions = {},
): Promise<StartedImport> {
  return inTransaction(pg, async (client) => {
    await query(client, "select 1 from owners where id = $1 for update", [ownerId]);
    const earlier = idempotency && (await findRepeatedImport(client, idempotency));
    if (earlier !== undefined) return { id: earlier, repeated: true };
    const id = uuidv7();
    const inserted = await query(client, INSERT_UNLESS_TOO_MANY, [
      id,
      ownerId,
      accountId,
      artifactKind,
      artifactId === "" ? null : artifactId,
      UPLOAD_LEASE_SECONDS,
      ACTIVE_IMPORTS_MAX,
      tokenName ?? null,
    ]);
    if (inserted.length === 0) throw tooManyActiveImports();
    if (idempotency !== undefined) await insertImportKey(client, idempotency, id);
    await record?.(client, id);
    return { id, repeated: false };
  });
}

/** Counts and inserts in one statement: it begins after the owner's row is locked, so it sees every earlier start. */
const INSERT_UNLESS_TOO_MANY = `
  insert into imports (
    id, owner_id, account_id, artifact_kind, artifact_id, upload_lease, token_name, bytes, lines_received
  )
  select $1::uuid, $2::uuid, $3::uuid, $4::text, $5::uuid, now() + make_interval(secs => $6), $8::text, 0, 0
  where (select count(*) from imports where owner_id = $2::uuid and status = 'importing') < $7::int
  returning id`;

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
  const [row] = await query<ImportRow>(pg, `${SELECT_IMPORT} where i.owner_id = $1 and i.id = $2`, [
    ownerId,
    id,
  ]);
  return row && importRecord(row);
}

/** The package that an import goes into, if it goes into one. */
export async function readImportedPackage(pg: Postgres, id: string): Promise<string | undefined> {
  const text = "select artifact_id from imports where id = $1 and artifact_kind = 'package'";
  const [row] = await query<{ artifact_id: string }>(pg, text, [id]);
  return row?.artifact_id;
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
  const text = `${SELECT_IMPORT}
    where i.owner_id = $1 and ($2::uuid is null or i.id < $2) and not (${IS_BLOCKED})
      and ($5::text is null or ${STATUS} = $5)
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

/** Whether the account $4 is blocked from the package of the import `i`. */
const IS_BLOCKED = `
  i.artifact_kind = 'package' and i.owner_id <> $4 and exists (
    select from package_permissions x
    left join memberships m on m.organization_id = i.owner_id and m.account_id = x.account_id
    where x.package_id = i.artifact_id and x.account_id = $4 and x.level = 'blocked'
      and m.role is distinct from 'owner'
  )`;

interface ImportRow {
  id: string;
  owner: string;
  status: EventImport["status"];
  created_at: string;
  updated_at: string;
  finished_at: string | null;
  started_by: string;
  started_with_token: string | null;
  artifact_kind: "package" | "pixel" | "any";
  artifact_id: string | null;
  artifact_name: string | null;
  bytes: string | null;
  lines_received: string | null;
  events_total: string;
  events_imported: string;
  events_failed: string;
  /** Whether it was aborted and retracted: then nothing of it is imported. */
  undone: boolean;
  entries: LogEntry[];
  errors: LogEntry[];
  warnings: LogEntry[];
}

/** SQL: the status as it is answered. */
const STATUS = `(case when ${IS_RETRACTING} then 'retracting' else i.status end)`;

/**
 * Each chunk stores the first entries of each class, so that the first chunks with entries contain the import's first.
 */
const SELECT_IMPORT = `
  select i.id, o.name as owner, ${STATUS} as status, ${utc("i.created_at")} as created_at,
    ${utc("i.updated_at")} as updated_at, ${utc("i.finished_at")} as finished_at, i.artifact_kind, i.artifact_id,
    coalesce(p.name, x.name) as artifact_name, coalesce(starter.name, '${REMOVED}') as started_by, i.token_name as started_with_token, i.bytes,
    case when i.lines_received is not null then greatest(i.lines_received, i.events_total) end as lines_received, i.events_total, i.events_imported, i.events_failed, i.status = 'aborted' and i.retracted as undone, i.entries,
    coalesce(${firstEntries("errors")}, '[]') as errors, coalesce(${firstEntries("warnings")}, '[]') as warnings
  from imports i join owners o on o.id = i.owner_id left join owners starter on starter.id = i.account_id
  left join packages p on p.id = i.artifact_id left join pixels x on x.id = i.artifact_id`;

function firstEntries(column: "errors" | "warnings"): string {
  return `(
    select jsonb_agg(entry order by sequence, position)
    from (
      select sequence, ${column} from import_chunks
      where import_id = i.id and ${column} is not null order by sequence limit ${LOG_SAMPLE_MAX}
    ) chunks, jsonb_array_elements(chunks.${column}) with ordinality as entries (entry, position)
  )`;
}

function importRecord(row: ImportRow): EventImport {
  const whole = row.entries.filter((entry) => entry.class === "error");
  return {
    id: row.id,
    owner: row.owner,
    status: row.status,
    created_at: row.created_at,
    updated_at: row.updated_at,
    events_total: Number(row.events_total),
    events_successfully_imported: row.undone ? 0 : Number(row.events_imported),
    events_failed_to_import: Number(row.events_failed),
    error_log_sample: [...whole, ...row.errors].slice(0, LOG_SAMPLE_MAX).map(inWireOrder),
    warning_log_sample: row.warnings.slice(0, LOG_SAMPLE_MAX).map(inWireOrder),
    package: targetOf(row, "package"),
    pixel: targetOf(row, "pixel"),
    started_by: row.started_by,
    started_with_token: row.started_with_token,
    bytes: row.bytes === null ? null : Number(row.bytes),
    lines_received: row.lines_received === null ? null : Number(row.lines_received),
    finished_at: row.finished_at,
  };
}

function targetOf({ artifact_kind, artifact_id, artifact_name }: ImportRow, kind: "package" | "pixel") {
  return artifact_kind === kind && artifact_id !== null ? { id: artifact_id, name: artifact_name } : null;
}
