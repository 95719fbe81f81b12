import type { OrganizationMemberV1, Role } from "../../schemas/contracts/member.js";
import { query, type Postgres } from "../postgres/query.js";

/** Every member, sorted by username without case. */
export async function listMembers(pg: Postgres, organizationId: string): Promise<OrganizationMemberV1[]> {
  const text = `
    select organization.name as "organizationName", account.name as username, m.role
    from memberships m
    join owners organization on organization.id = m.organization_id
    join owners account on account.id = m.account_id
    where m.organization_id = $1
    order by account.name_key collate "C"`;
  return query<OrganizationMemberV1>(pg, text, [organizationId]);
}

export interface MemberRow {
  accountId: string;
  /** As stored, whatever the case in the request. */
  username: string;
  role: Role;
}

export async function readMember(
  pg: Postgres,
  { organizationId, username }: { organizationId: string; username: string },
): Promise<MemberRow | undefined> {
  if (username.includes("\0")) return undefined;
  const text = `
    select m.account_id as "accountId", o.name as username, m.role
    from memberships m join owners o on o.id = m.account_id
    where m.organization_id = $1 and o.name_key = lower($2 collate "C")`;
  const [row] = await query<MemberRow>(pg, text, [organizationId, username]);
  return row;
}

export async function countOrganizationOwners(pg: Postgres, organizationId: string): Promise<number> {
  const text = `
    select count(*)::int as owners from memberships where organization_id = $1 and role = 'owner'`;
  const [counted] = await query<{ owners: number }>(pg, text, [organizationId]);
  return counted?.owners ?? 0;
}

export async function upsertMember(
  pg: Postgres,
  { organizationId, accountId, role }: { organizationId: string; accountId: string; role: Role },
): Promise<void> {
  const text = `
    insert into memberships (organization_id, account_id, role) values ($1, $2, $3)
    on conflict (organization_id, account_id) do update set role = excluded.role`;
  await query(pg, text, [organizationId, accountId, role]);
}

export async function deleteMember(
  pg: Postgres,
  { organizationId, accountId }: { organizationId: string; accountId: string },
): Promise<void> {
  const text = `delete from memberships where organization_id = $1 and account_id = $2`;
  await query(pg, text, [organizationId, accountId]);
}
