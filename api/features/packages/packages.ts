import { v7 as uuidv7 } from "uuid";
import type { PackageDomainV1 } from "../../../schemas/contracts/package-routing.js";
import {
  PACKAGE_UPSERT,
  type PackageUpsert,
  type PackageV1,
  storedType,
} from "../../../schemas/contracts/package.js";
import { withoutNulls } from "../../../schemas/formats.js";
import { Problem } from "../../../schemas/problem.js";
import { LIBRARY_TYPES, type LibraryType } from "../../../schemas/records/artifact.js";
import type { PackageRow } from "../../base/access/visible-packages.js";
import { hostInUse, publicHostOf } from "./hosts/public-hosts.js";
import type { Action } from "../../base/access/resources.js";
import type { Call } from "../../base/http/route.js";
import { columnsOf, insertRow, updateRow } from "../../base/postgres/record-rows.js";
import { type Postgres, query, readCount, violates } from "../../base/postgres/query.js";

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

/** The host of its public URL must be locked and free; see `requireFreeHost`. Throws `already-exists`. */
export async function insertPackage(
  pg: Postgres,
  { ownerId, package: made }: { ownerId: string; package: PackageUpsert },
): Promise<string> {
  const id = uuidv7();
  await naming(made, () => insertRow(pg, "packages", { id, owner_id: ownerId, ...fieldsOf(made) }));
  return id;
}

/** The host must be locked and free, as for `insertPackage`. Throws `already-exists`. */
export async function updatePackage(
  pg: Postgres,
  { id, package: sent }: { id: string; package: PackageUpsert },
): Promise<void> {
  await naming(sent, () => updateRow(pg, "packages", { id, ...fieldsOf(sent) }));
}

/**
 * With a package go its routes, domains and permissions, but not its pixels. The id is kept, so that its events in
 * ClickHouse are erased.
 */
export async function deleteArtifact(pg: Postgres, table: "packages" | "pixels", id: string): Promise<void> {
  const text = `
    with gone as (delete from ${table} where id = $1 returning id, owner_id)
    insert into deleted_artifacts (id, owner_id) select id, owner_id from gone`;
  await query(pg, text, [id]);
}

function fieldsOf(sent: PackageUpsert) {
  return { ...columnsOf(PACKAGE_UPSERT, sent), public_host: publicHostOf(sent.publicUrl) ?? null };
}

async function naming({ libraryType, name }: PackageUpsert, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!violates(error, "packages_name_taken")) throw error;
    throw new Problem("already-exists", `A package of type ${libraryType} named ${name} already exists.`, {
      cause: error,
    });
  }
}

export function countPackages(pg: Postgres, ownerId: string): Promise<number> {
  return readCount(pg, "select count(*)::int from packages where owner_id = $1", [ownerId]);
}

export function countPackageDomains(pg: Postgres, packageId: string): Promise<number> {
  return readCount(pg, "select count(*)::int from package_domains where package_id = $1", [packageId]);
}

export async function listPackageDomains(pg: Postgres, packageId: string): Promise<PackageDomainV1[]> {
  const text = "select id, name from package_domains where package_id = $1 order by id";
  return query<PackageDomainV1>(pg, text, [packageId]);
}

/** Throws `domain-is-already-in-use`, naming no owner. `requireFreeHost` checks docker packages of others. */
export async function insertPackageDomain(
  client: Postgres,
  { packageId, name }: { packageId: string; name: string },
): Promise<PackageDomainV1> {
  const id = uuidv7();
  try {
    await insertRow(client, "package_domains", { id, package_id: packageId, name });
    return { id, name };
  } catch (error) {
    if (!violates(error, "package_domains_name_taken")) throw error;
    throw hostInUse(name, { cause: error });
  }
}

export async function readPackageDomain(
  pg: Postgres,
  { packageId, id }: { packageId: string; id: string },
): Promise<PackageDomainV1 | undefined> {
  const text = "select id, name from package_domains where package_id = $1 and id = $2";
  const [found] = await query<PackageDomainV1>(pg, text, [packageId, id]);
  return found;
}

export async function deletePackageDomain(client: Postgres, id: string): Promise<void> {
  await query(client, "delete from package_domains where id = $1", [id]);
}

const TYPES = [...LIBRARY_TYPES, "file"] as const;

export const PACKAGE_PATH = {
  package: {
    schema: { type: "string" },
    description: "UUID or percent-encoded name of the package",
    example: "01a1fbad-ca48-70ed-9525-6dc0dcdf7c27",
  },
} as const;

export const PACKAGE_QUERY = {
  packageType: {
    schema: { type: "string", enum: TYPES },
    description: "Type of the package, if several packages share the name",
  },
} as const;

export type PackageCall<Named extends Action = Action> = Call<Named, typeof PACKAGE_QUERY>;

/** The type that narrows a package name, if given. */
export function packageTypeOf({ packageType }: PackageCall["query"]): LibraryType | undefined {
  return packageType === undefined ? undefined : storedType(packageType);
}

/** The package that a path with its owner in it names, for `packageOfOwnerFor`. */
export function packageOnPath({ query, param }: Pick<PackageCall, "query" | "param">) {
  return { owner: param("owner"), idOrName: param("package"), type: packageTypeOf(query) };
}

export const PACKAGE_PROBLEMS = ["ambiguous-name"] as const;

export const PIXEL_PATH = {
  pixel: {
    schema: { type: "string", minLength: 1 },
    description: "Id or percent-encoded name of the pixel",
    example: "01a1fbad-cab4-710c-82a1-b3f3576e59e4",
  },
} as const;
