import { v7 as uuidv7 } from "uuid";
import type { Action } from "../access.js";
import { query, type Postgres } from "./query.js";

/** What was changed, as it is called at that time. */
export interface Changed {
  /** Whose audit log it belongs to. */
  ownerId: string;
  target: { kind: TargetKind; id: string; name: string };
  /** The fields that are new or other than before, without secrets. */
  changes?: object;
}

export type TargetKind =
  "organization" | "member" | "package" | "permission" | "route" | "domain" | "pixel" | "import" | "token";

export interface AuditEntry extends Changed {
  accountId: string;
  action: Action;
  requestId: string;
}

/** Writes one entry. Give it the client of the transaction that makes the change: both are there, or neither is. */
export async function insertAuditEntry(
  client: Postgres,
  { ownerId, accountId, action, target, changes = {}, requestId }: AuditEntry,
): Promise<void> {
  const text = `
    insert into audit_entries (id, owner_id, account_id, action, target_kind, target_id, target_name, changes, request_id)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`;
  const named = [target.kind, target.id, target.name];
  await query(client, text, [uuidv7(), ownerId, accountId, action, ...named, changes, requestId]);
}
