import type { LibraryType } from "../../../schemas/records/artifact.js";
import { type Postgres, query, utc } from "../postgres/query.js";
import type { Level, OwnerKind, Standing } from "./access.js";

/** A package as lists have it: without its texts, with the calling account's standing and level. */
export interface ListedPackage {
  id: string;
  ownerId: string;
  ownerKind: OwnerKind;
  owner: string;
  exportEnabled: boolean;
  name: string;
  libraryType: LibraryType;
  updatedAt: string;
  /** Of its long description, which is read with `readPackages`. */
  textBytes: number;
  standing: Standing;
  level: Level | undefined;
}

export interface PackageRow extends ListedPackage {
  shortDescription: string;
  longDescription: string | null;
  website: string | null;
  backendUrl: string | null;
  publicUrl: string | null;
  repositoryUrl: string | null;
  createdAt: string;
}

export async function readPackage(
  pg: Postgres,
  { accountId, id }: { accountId: string; id: string },
): Promise<PackageRow | undefined> {
  const [row] = await query<PackageRow>(pg, `${SELECT} ${FROM} where p.id = $2`, [accountId, id]);
  return row;
}

interface PackageName {
  accountId: string;
  name: string;
  type?: LibraryType | undefined;
  /** Without it, of any owner. */
  ownerId?: string;
}

/** Packages of exactly that name that the account has any relation to, blocked ones included. */
export async function readPackagesNamed(
  pg: Postgres,
  { accountId, name, type, ownerId }: PackageName,
): Promise<PackageRow[]> {
  if (name.includes("\0")) return [];
  const text = `${SELECT} ${FROM}
    where p.name = $2 and ($3::text is null or p.library_type = $3) and ($4::uuid is null or p.owner_id = $4)
      and (p.owner_id = $1 or m.role is not null or x.level is not null)
    ${ORDER}`;
  return query<PackageRow>(pg, text, [accountId, name, type ?? null, ownerId ?? null]);
}

/** The packages of these ids that still exist, in any order; `short` leaves out their long descriptions. */
export async function readPackages(
  pg: Postgres,
  { accountId, ids, texts }: { accountId: string; ids: readonly string[]; texts: "short" | "whole" },
): Promise<PackageRow[]> {
  const select = texts === "short" ? SELECT_SHORT : SELECT;
  return query<PackageRow>(pg, `${select} ${FROM} where p.id = any($2::uuid[])`, [accountId, ids]);
}

export async function listPackagesOfOwner(
  pg: Postgres,
  { accountId, ownerId }: { accountId: string; ownerId: string },
): Promise<ListedPackage[]> {
  return query<ListedPackage>(pg, `${SELECT_LISTED} ${FROM} where p.owner_id = $2 ${ORDER}`, [
    accountId,
    ownerId,
  ]);
}

/** Packages of the account, of its organizations, and those on which it has a level, blocked ones included. */
export async function listPackagesOfAccount(pg: Postgres, accountId: string): Promise<ListedPackage[]> {
  const text = `${SELECT_LISTED} ${FROM}
    where p.id in (
      select id from packages where owner_id = $1
      union all select mine.id from packages mine join memberships on organization_id = mine.owner_id
        where account_id = $1
      union all select package_id from package_permissions where account_id = $1
    )
    ${ORDER}`;
  return query<ListedPackage>(pg, text, [accountId]);
}

/**
 * Serialises changes of this package, and excludes changes of its owner and the owner's members, until the transaction
 * ends. The owner is locked first, so that no two transactions deadlock. Changes of the owner's other packages go on.
 */
export async function lockPackage(client: Postgres, id: string): Promise<void> {
  const owner = "select owner_id from packages where id = $1";
  await query(client, `select from owners where id = (${owner}) for share`, [id]);
  await query(client, "select from packages where id = $1 for update", [id]);
}

const LISTED = `
  p.id, p.owner_id as "ownerId", o.kind as "ownerKind", o.name as owner,
  o.export_enabled as "exportEnabled", p.name, p.library_type as "libraryType", ${utc("p.updated_at")} as "updatedAt",
  coalesce(octet_length(p.long_description), 0) as "textBytes",
  case when p.owner_id = $1 then 'owner' else coalesce(m.role, 'none') end as standing, x.level`;

const TEXTS = `
  p.short_description as "shortDescription", p.website, p.backend_url as "backendUrl", p.public_url as "publicUrl",
  p.repository_url as "repositoryUrl", ${utc("p.created_at")} as "createdAt"`;

const FROM = `
  from packages p
  join owners o on o.id = p.owner_id
  left join memberships m on m.organization_id = p.owner_id and m.account_id = $1
  left join package_permissions x on x.package_id = p.id and x.account_id = $1`;

const SELECT_LISTED = `select ${LISTED}`;
const SELECT_SHORT = `${SELECT_LISTED}, ${TEXTS}, null as "longDescription"`;
const SELECT = `${SELECT_LISTED}, ${TEXTS}, p.long_description as "longDescription"`;

const ORDER = `order by o.name_key collate "C", p.name collate "C", p.library_type`;

/** Whether the account is blocked from a package of the owner, in whom it has a role. */
export async function isBlockedFromAny(
  pg: Postgres,
  { accountId, ownerId }: { accountId: string; ownerId: string },
): Promise<boolean> {
  const which = "blocked.package_id in (select id from packages where owner_id = $2)";
  const text = `select ${isBlocked({ account: "$1::uuid", owner: "$2::uuid", which })} as "isBlocked"`;
  const [row] = await query<{ isBlocked: boolean }>(pg, text, [accountId, ownerId]);
  return row?.isBlocked ?? false;
}

interface BlockedFrom {
  /** The parameter with the account's id, such as `$1`. */
  account: string;
  /** The column with the id of the packages' owner. */
  owner: string;
  /** A condition on `blocked.package_id`: which packages are meant. */
  which: string;
}

/** SQL: whether an account is blocked from one of these packages. An owner never is. */
export function isBlocked({ account, owner, which }: BlockedFrom): string {
  return `
    ${owner} <> ${account} and exists (
      select from package_permissions blocked
      left join memberships held on held.organization_id = ${owner} and held.account_id = ${account}
      where blocked.account_id = ${account} and blocked.level = 'blocked'
        and held.role is distinct from 'owner' and (${which}))`;
}
