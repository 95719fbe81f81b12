import { v7 as uuidv7 } from "uuid";
import type { LibraryType } from "../../schemas/records/artifact.js";
import type { PackageUpsert, PackageV1 } from "../../schemas/contracts/package.js";
import { Problem } from "../../schemas/problem.js";
import { publicHostOf } from "../../schemas/records/public-host.js";
import { withoutNulls } from "../../schemas/records/record.js";
import type { Level, OwnerKind, Standing } from "../access/access.js";
import { query, utc, violates, type Postgres } from "../postgres/query.js";

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
  standing: Standing;
  level: Level | undefined;
}

/** A whole package. */
export interface PackageRow extends ListedPackage {
  shortDescription: string;
  longDescription: string | null;
  website: string | null;
  backendUrl: string | null;
  publicUrl: string | null;
  repositoryUrl: string | null;
  createdAt: string;
}

/** The record of the specification. */
export function packageRecord(row: PackageRow): PackageV1 {
  const { id, owner, name, shortDescription, createdAt, longDescription, website, libraryType } = row;
  const record = {
    uuid: id,
    owner,
    name,
    shortDescription,
    createdAt,
    longDescription,
    website,
    libraryType,
  };
  return withoutNulls<PackageV1>(record);
}

/** The visible and changeable state of a package, without anything about the caller. */
export function packageState(row: PackageRow) {
  const { backendUrl, publicUrl, repositoryUrl, updatedAt } = row;
  return { ...packageRecord(row), backendUrl, publicUrl, repositoryUrl, updatedAt };
}

/**
 * Answers the new package's id. Throws `already-exists` if the owner has one of that name and type. The host of its
 * public URL must be locked and free; see `requireFreeHost`.
 */
export async function insertPackage(
  pg: Postgres,
  { ownerId, package: made }: { ownerId: string; package: PackageUpsert },
): Promise<string> {
  const text = `
    insert into packages (id, owner_id, name, library_type, short_description, long_description, website,
      backend_url, public_url, repository_url, public_host)
    values ($1, $2, $4, $3, $5, $6, $7, $8, $9, $10, $11)`;
  const id = uuidv7();
  await naming(made, () => query(pg, text, [id, ownerId, made.libraryType, ...fieldsOf(made)]));
  return id;
}

/**
 * Replaces all fields but the type. Throws `already-exists` if the owner has another one of that name and type. The
 * host of its public URL must be locked and free, as for `insertPackage`.
 */
export async function updatePackage(
  pg: Postgres,
  { id, package: sent }: { id: string; package: PackageUpsert },
): Promise<void> {
  const text = `
    update packages set name = $2, short_description = $3, long_description = $4, website = $5,
      backend_url = $6, public_url = $7, repository_url = $8, public_host = $9, updated_at = now()
    where id = $1`;
  await naming(sent, () => query(pg, text, [id, ...fieldsOf(sent)]));
}

/**
 * Also deletes its routes, domains and permissions. Its pixels stay, without a package. Its id is noted so that its
 * events are erased.
 */
export async function deletePackage(pg: Postgres, id: string): Promise<void> {
  const text = `
    with gone as (delete from packages where id = $1 returning id, owner_id)
    insert into deleted_artifacts (id, owner_id) select id, owner_id from gone`;
  await query(pg, text, [id]);
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

function fieldsOf(sent: PackageUpsert): (string | null)[] {
  const about = [sent.name, sent.shortDescription, sent.longDescription ?? null, sent.website ?? null];
  const urls = [sent.backendUrl ?? null, sent.publicUrl ?? null, sent.repositoryURL ?? null];
  return [...about, ...urls, publicHostOf(sent.publicUrl) ?? null];
}

async function naming({ libraryType, name }: PackageUpsert, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!violates(error, "packages_name_taken")) throw error;
    throw new Problem("already-exists", `There is already a ${libraryType} package ${name} here.`, {
      cause: error,
    });
  }
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

/** Every package of one owner, blocked ones included. */
export async function listPackagesOfOwner(
  pg: Postgres,
  { accountId, ownerId }: { accountId: string; ownerId: string },
): Promise<ListedPackage[]> {
  return query<ListedPackage>(pg, `${SELECT_LISTED} ${FROM} where p.owner_id = $2 ${ORDER}`, [
    accountId,
    ownerId,
  ]);
}

export async function countPackages(pg: Postgres, ownerId: string): Promise<number> {
  const text = "select count(*)::int as packages from packages where owner_id = $1";
  const [counted] = await query<{ packages: number }>(pg, text, [ownerId]);
  return counted?.packages ?? 0;
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

const LISTED = `
  p.id, p.owner_id as "ownerId", o.kind as "ownerKind", o.name as owner,
  o.export_enabled as "exportEnabled", p.name, p.library_type as "libraryType", ${utc("p.updated_at")} as "updatedAt",
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
