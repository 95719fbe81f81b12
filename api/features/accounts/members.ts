import type {
  OrganizationMemberUpsert,
  OrganizationMemberV1,
  Role,
} from "../../../schemas/contracts/organization.js";
import { type Postgres, query, readCount } from "../../base/postgres/query.js";
import type { Pool } from "pg";
import { Problem } from "../../../schemas/problem.js";
import type { OwnerAction } from "../../base/access/resources.js";
import { type Owner, ownerFor } from "../../base/access/authorise.js";
import { requireMatchOf } from "../../base/http/answers/headers.js";
import type { Call } from "../../base/http/route.js";
import { readAccountByName } from "../../base/identity/stored-accounts.js";
import { inTransaction } from "../../base/postgres/connection.js";
import { lockOwner } from "../../base/access/owners.js";

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

interface MemberRow {
  accountId: string;
  username: string;
  role: Role;
}

async function readMember(
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

function countOrganizationOwners(pg: Postgres, organizationId: string): Promise<number> {
  return readCount(
    pg,
    "select count(*)::int from memberships where organization_id = $1 and role = 'owner'",
    [organizationId],
  );
}

async function upsertMember(
  pg: Postgres,
  { organizationId, accountId, role }: { organizationId: string; accountId: string; role: Role },
): Promise<void> {
  const text = `
    insert into memberships (organization_id, account_id, role) values ($1, $2, $3)
    on conflict (organization_id, account_id) do update set role = excluded.role`;
  await query(pg, text, [organizationId, accountId, role]);
}

async function deleteMember(
  pg: Postgres,
  { organizationId, accountId }: { organizationId: string; accountId: string },
): Promise<void> {
  const text = `delete from memberships where organization_id = $1 and account_id = $2`;
  await query(pg, text, [organizationId, accountId]);
}

type MembersCall = Call<"members.write">;

/** Adds the user, or changes the role. Throws `unknown-user`, `cannot-remove-last-owner`, and as `ownerFor`. */
export async function putMember(
  pg: Pool,
  call: MembersCall,
  { username, role }: OrganizationMemberUpsert,
): Promise<{ created: boolean; member: OrganizationMemberV1 }> {
  return inOrganization(pg, call, async (client) => {
    const owner = await organizationFor(client, call, "members.write");
    const user = await readAccountByName(client, username);
    if (user === undefined) throw unknownUser(username);
    const before = await readMember(client, { organizationId: owner.id, username });
    if (role === "owner" || before?.role === "owner") {
      await organizationFor(client, call, "members.write-owner");
    }
    await requireMatchOf(call.ctx, () => listMembers(client, owner.id));
    if (role !== "owner") await requireAnotherOwner(client, { owner, member: before });
    await upsertMember(client, { organizationId: owner.id, accountId: user.id, role });
    await recordRole(client, { call, owner, user, old: before?.role, new: role });
    const member = { organizationName: owner.name, username: user.username, role };
    return { created: before === undefined, member };
  });
}

/** Throws `not-found` if the user is no member, and otherwise as `putMember`. */
export async function removeMember(pg: Pool, call: MembersCall): Promise<void> {
  await inOrganization(pg, call, async (client) => {
    const owner = await organizationFor(client, call, "members.read");
    const username = call.param("username");
    const member = await readMember(client, { organizationId: owner.id, username });
    await organizationFor(client, call, actionOfRemoval(call, member));
    if (member === undefined) {
      throw new Problem("not-found", `${username} is not a member of ${owner.name}.`);
    }
    await requireMatchOf(call.ctx, () => listMembers(client, owner.id));
    await requireAnotherOwner(client, { owner, member });
    await deleteMember(client, { organizationId: owner.id, accountId: member.accountId });
    const user = { id: member.accountId, username: member.username };
    await recordRole(client, { call, owner, user, old: member.role, new: undefined });
  });
}

/** Serialises changes of an organization's members: two owners who remove each other cannot both succeed. */
function inOrganization<T>(
  pg: Pool,
  { param }: MembersCall,
  work: (client: Postgres) => Promise<T>,
): Promise<T> {
  return inTransaction(pg, async (client) => {
    await lockOwner(client, param("organization"));
    return work(client);
  });
}

function organizationFor(
  client: Postgres,
  { account, param }: MembersCall,
  action: OwnerAction,
): Promise<Owner> {
  return ownerFor(client, account, param("organization"), action, { kind: "organization" });
}

function actionOfRemoval({ account }: MembersCall, member: MemberRow | undefined): OwnerAction {
  if (member?.accountId === account.id) return "members.leave";
  return member?.role === "owner" ? "members.write-owner" : "members.write";
}

async function requireAnotherOwner(
  client: Postgres,
  { owner, member }: { owner: Owner; member: MemberRow | undefined },
): Promise<void> {
  if (member?.role !== "owner" || (await countOrganizationOwners(client, owner.id)) > 1) return;
  throw new Problem(
    "cannot-remove-last-owner",
    `${member.username} is the last owner of ${owner.name}. Make another member an owner first.`,
  );
}

interface RoleChange {
  call: MembersCall;
  owner: Owner;
  user: { id: string; username: string };
  old: Role | undefined;
  new: Role | undefined;
}

async function recordRole(client: Postgres, { call, owner, user, ...role }: RoleChange): Promise<void> {
  if (role.old === role.new) return;
  await call.record(client, {
    ownerId: owner.id,
    target: { kind: "member", id: user.id, name: user.username },
    changes: { role: { old: role.old ?? null, new: role.new ?? null } },
  });
}

function unknownUser(username: string): Problem {
  return new Problem("unknown-user", `The user ${username} does not exist.`, {
    errors: [{ path: "/username", message: "is not an existing user" }],
  });
}
