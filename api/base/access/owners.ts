import { type Postgres, query } from "../postgres/query.js";
import type { OwnerKind, Standing } from "./access.js";

export interface OwnerRow {
  id: string;
  kind: OwnerKind;
  name: string;
  exportEnabled: boolean;
  standing: Standing;
}

/** A user or organization by name, in any case, with the account's standing. */
export async function readOwner(
  pg: Postgres,
  { accountId, name }: { accountId: string; name: string },
): Promise<OwnerRow | undefined> {
  if (name.includes("\0")) return undefined;
  const text = `${SELECT} where o.name_key = lower($2 collate "C")`;
  const [row] = await query<OwnerRow>(pg, text, [accountId, name]);
  return row;
}

export async function readOwnerById(
  pg: Postgres,
  { accountId, id }: { accountId: string; id: string },
): Promise<OwnerRow | undefined> {
  const [row] = await query<OwnerRow>(pg, `${SELECT} where o.id = $2`, [accountId, id]);
  return row;
}

const SELECT = `
  select o.id, o.kind, o.name, o.export_enabled as "exportEnabled",
    case when o.id = $1 then 'owner' else coalesce(m.role, 'none') end as standing
  from owners o left join memberships m on m.organization_id = o.id and m.account_id = $1`;

export async function readOwnerNamed(
  pg: Postgres,
  name: string,
): Promise<Pick<OwnerRow, "id" | "kind" | "name"> | undefined> {
  const text = `select id, kind, name from owners where name_key = lower($1 collate "C")`;
  const [row] = await query<Pick<OwnerRow, "id" | "kind" | "name">>(pg, text, [name]);
  return row;
}

/** Serialises changes of the owner, its members and its things until the transaction ends. Read after it. */
export async function lockOwner(client: Postgres, name: string): Promise<void> {
  if (name.includes("\0")) return;
  // The condition must not contain the name alone: a caller could wait for a row, have it renamed meanwhile, and lock
  // one owner but change another.
  await query(client, "select pg_advisory_xact_lock_shared(hashtextextended('renames of owners', 0))");
  await query(client, `select from owners where name_key = lower($1 collate "C") for update`, [name]);
}

/**
 * Serialises renames until the transaction ends: two organizations that swap names would otherwise deadlock in the
 * index of names. Call it before the owner is locked, because that lock waits for renames as well.
 */
export async function lockRenames(client: Postgres): Promise<void> {
  await query(client, "select pg_advisory_xact_lock(hashtextextended('renames of owners', 0))");
}
