import { UPLOAD_LEASE_SECONDS } from "../../schemas/records/import-store.js";
import { auditRows, insertAuditEntries, type AuditEntry } from "../access/audit-entries.js";
import { query, type Postgres } from "../postgres/query.js";
import { inOwnerGroups } from "./in-owner-groups.js";

export const ACTIVE_IMPORTS_MAX = 15;

export interface NewImport {
  ownerId: string;
  accountId: string;
  artifactKind: "package" | "pixel" | "any";
  /** UUID; empty if each line names its target. */
  artifactId: string;
  /** The additional token that starts it, if any. */
  tokenName?: string | undefined;
}

/** An import with its id and the entry that the audit log gets when it starts. */
export interface AskedImport extends NewImport {
  id: string;
  entry: AuditEntry | undefined;
}

/** The receipt stamp that a started import begins at; undefined where too many run. */
export type StartStamp = number | undefined;

/**
 * Starts imports of one owner. One statement: the owner stays locked for no longer than PostgreSQL takes for it. Answers
 * their stamps, in their order.
 */
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

function askedRow({ id, accountId, artifactKind, artifactId, tokenName }: AskedImport) {
  const artifact = artifactId === "" ? null : artifactId;
  return { id, account: accountId, kind: artifactKind, artifact, token: tokenName ?? null };
}

const START = `
  with asked as materialized (
    select * from json_to_recordset($2::json) as asked (id uuid, account uuid, kind text, artifact uuid, token text)
  ), start as materialized (
    select id, start_stamped_import(id, $1, account, kind, artifact, $3, token, $4)::text as stamp from asked
  ), noted as (${insertAuditEntries(5)} where target_id in (select id::text from start where stamp is not null))
  select id, stamp from start`;
