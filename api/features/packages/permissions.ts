import type {
  PackagePermissionV1,
  PermissionLevel,
  PermissionWanted,
} from "../../../schemas/contracts/package-access.js";
import type { Level, User } from "../../base/access/access.js";
import { type Postgres, query } from "../../base/postgres/query.js";
import type { Pool } from "pg";
import { type FieldFault, Problem } from "../../../schemas/problem.js";
import { FAULTS_LISTED_MAX, invalidBody } from "../../../schemas/invalid-body.js";
import { lockedPackageFor } from "../../base/access/authorise.js";
import { requireMatchOf } from "../../base/http/answers/headers.js";
import { type PackageCall, packageTypeOf } from "./packages.js";
import type { Changed } from "../../base/access/audit-entries.js";
import { inTransaction } from "../../base/postgres/connection.js";
import type { PackageRow } from "../../base/access/visible-packages.js";

/** The explicit levels on a package, sorted by username without case. */
export async function listPermissions(pg: Postgres, packageId: string): Promise<PackagePermissionV1[]> {
  const text = `
    select o.name as username, p.level as "permissionLevel"
    from package_permissions p join owners o on o.id = p.account_id
    where p.package_id = $1
    order by o.name_key collate "C"`;
  return query<PackagePermissionV1>(pg, text, [packageId]);
}

/** The explicit levels of these accounts on a package; an account without one is absent. */
async function readLevels(
  pg: Postgres,
  { packageId, accountIds }: { packageId: string; accountIds: readonly string[] },
): Promise<Map<string, Level>> {
  const text = `
    select account_id as "accountId", level from package_permissions
    where package_id = $1 and account_id = any($2::uuid[])`;
  const rows = await query<{ accountId: string; level: Level }>(pg, text, [packageId, accountIds]);
  return new Map(rows.map(({ accountId, level }) => [accountId, level]));
}

async function upsertLevels(
  pg: Postgres,
  { packageId, levels }: { packageId: string; levels: ReadonlyMap<string, Level> },
): Promise<void> {
  const text = `
    insert into package_permissions (package_id, account_id, level)
    select $1, account_id, level from unnest($2::uuid[], $3::text[]) as wanted (account_id, level)
    on conflict (package_id, account_id) do update set level = excluded.level`;
  await query(pg, text, [packageId, [...levels.keys()], [...levels.values()]]);
}

async function deleteLevels(
  pg: Postgres,
  { packageId, accountIds }: { packageId: string; accountIds: readonly string[] },
): Promise<void> {
  const text = `delete from package_permissions where package_id = $1 and account_id = any($2::uuid[])`;
  await query(pg, text, [packageId, accountIds]);
}

/** By query; absent if there is none. One with `@` is an email address, any other a username, both in any case. */
async function readAccountsByQuery(pg: Postgres, queries: readonly string[]): Promise<Map<string, User>> {
  const text = `
    select q.query, a.id, o.name as username
    from unnest($1::text[]) as q (query)
    join accounts a on a.email_key = lower(q.query collate "C") join owners o on o.id = a.id
    where q.query like '%@%'
    union
    select q.query, a.id, o.name
    from unnest($1::text[]) as q (query)
    join owners o on o.name_key = lower(q.query collate "C") join accounts a on a.id = o.id
    where q.query not like '%@%'`;
  const rows = await query<User & { query: string }>(pg, text, [queries]);
  return new Map(rows.map((row) => [row.query, { id: row.id, username: row.username }]));
}

/** All or none. Throws `unknown-user`, `invalid-body` for a user named twice, and as `packageFor`. */
export async function setPermissions(
  pg: Pool,
  { ctx, account, action, query, param, record }: PackageCall<"permissions.write">,
  sent: readonly PermissionWanted[],
): Promise<void> {
  const type = packageTypeOf(query);
  await inTransaction(pg, async (client) => {
    const row = await lockedPackageFor(client, account, param("package"), action, { type });
    const { id } = row;
    await requireMatchOf(ctx, () => listPermissions(client, id));
    const changes = await changesOf(client, { packageId: id, wanted: await resolveUsers(client, sent) });
    await applyChanges(client, { packageId: id, changes });
    for (const change of changes) await record(client, entryOf(row, change));
  });
}

interface Wanted {
  user: User;
  level: PermissionLevel;
  at: string;
}

async function resolveUsers(client: Postgres, sent: readonly PermissionWanted[]): Promise<Wanted[]> {
  const queries = sent.map(({ userQuery }) => userQuery);
  const users = await readAccountsByQuery(client, queries);
  const wanted: Wanted[] = [];
  const unknown: PermissionWanted[] = [];
  for (const each of sent) {
    const user = users.get(each.userQuery);
    if (user === undefined) unknown.push(each);
    else wanted.push({ user, level: each.permissionLevel, at: each.at });
  }
  if (unknown.length > 0) throw unknownUsers(unknown);
  refuseRepeated(wanted);
  return wanted;
}

function unknownUsers(unknown: readonly PermissionWanted[]): Problem {
  const names = [...new Set(unknown.map(({ userQuery }) => userQuery))];
  const others = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : "";
  const errors = unknown
    .slice(0, FAULTS_LISTED_MAX)
    .map(({ at }) => ({ path: `${at}/userQuery`, message: "is not an existing user" }));
  return new Problem("unknown-user", `Unknown user: ${names.slice(0, NAMED_MAX).join(", ")}${others}.`, {
    errors,
  });
}

const NAMED_MAX = 10;

/** Two levels for one user are ambiguous. A user may be named once by username and once by email address. */
function refuseRepeated(wanted: readonly Wanted[]): void {
  const first = new Map<string, string>();
  const faults: FieldFault[] = [];
  for (const { user, at } of wanted) {
    const earlier = first.get(user.id);
    if (earlier === undefined) first.set(user.id, at);
    else faults.push({ path: `${at}/userQuery`, message: `is the same user as ${earlier}/userQuery` });
  }
  if (faults.length > 0) throw invalidBody(faults);
}

interface LevelChange {
  user: User;
  old: PermissionLevel;
  new: PermissionLevel;
}

/** The entries whose level differs from before; no explicit level is `default`. */
async function changesOf(
  client: Postgres,
  { packageId, wanted }: { packageId: string; wanted: readonly Wanted[] },
): Promise<LevelChange[]> {
  const accountIds = wanted.map(({ user }) => user.id);
  const levels: ReadonlyMap<string, PermissionLevel> = await readLevels(client, { packageId, accountIds });
  return wanted
    .map(({ user, level }) => ({ user, old: levels.get(user.id) ?? "default", new: level }))
    .filter((change) => change.old !== change.new);
}

async function applyChanges(
  client: Postgres,
  { packageId, changes }: { packageId: string; changes: readonly LevelChange[] },
): Promise<void> {
  const levels = new Map<string, Level>();
  const accountIds: string[] = [];
  for (const { user, new: level } of changes) {
    if (level === "default") accountIds.push(user.id);
    else levels.set(user.id, level);
  }
  if (levels.size > 0) await upsertLevels(client, { packageId, levels });
  if (accountIds.length > 0) await deleteLevels(client, { packageId, accountIds });
}

function entryOf(row: PackageRow, { user, ...permissionLevel }: LevelChange): Changed {
  return {
    ownerId: row.ownerId,
    target: { kind: "permission", id: row.id, name: row.name },
    changes: { username: user.username, permissionLevel },
  };
}
