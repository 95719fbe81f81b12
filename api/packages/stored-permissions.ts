import type { PackagePermissionV1 } from "../../schemas/contracts/package-permission.js";
import type { Level } from "../access/access.js";
import type { User } from "../access/caller.js";
import { query, type Postgres } from "../postgres/query.js";

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
export async function readLevels(
  pg: Postgres,
  { packageId, accountIds }: { packageId: string; accountIds: readonly string[] },
): Promise<Map<string, Level>> {
  const text = `
    select account_id as "accountId", level from package_permissions
    where package_id = $1 and account_id = any($2::uuid[])`;
  const rows = await query<{ accountId: string; level: Level }>(pg, text, [packageId, accountIds]);
  return new Map(rows.map(({ accountId, level }) => [accountId, level]));
}

export async function upsertLevels(
  pg: Postgres,
  { packageId, levels }: { packageId: string; levels: ReadonlyMap<string, Level> },
): Promise<void> {
  const text = `
    insert into package_permissions (package_id, account_id, level)
    select $1, account_id, level from unnest($2::uuid[], $3::text[]) as wanted (account_id, level)
    on conflict (package_id, account_id) do update set level = excluded.level`;
  await query(pg, text, [packageId, [...levels.keys()], [...levels.values()]]);
}

export async function deleteLevels(
  pg: Postgres,
  { packageId, accountIds }: { packageId: string; accountIds: readonly string[] },
): Promise<void> {
  const text = `delete from package_permissions where package_id = $1 and account_id = any($2::uuid[])`;
  await query(pg, text, [packageId, accountIds]);
}

/**
 * The accounts that these queries name, by query; absent if there is none. A query with `@` is an e-mail address, any
 * other a username. Both are compared without case.
 */
export async function readAccountsByQuery(
  pg: Postgres,
  queries: readonly string[],
): Promise<Map<string, User>> {
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
