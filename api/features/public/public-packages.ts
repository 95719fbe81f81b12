import type { PackagePublic, PublicKind } from "../../../schemas/contracts/package-access.js";
import type { LibraryType } from "../../../schemas/records/artifact.js";
import { type Postgres, query } from "../../base/postgres/query.js";

export interface PublicPackage extends PackagePublic {
  id: string;
  ownerId: string;
  owner: string;
  name: string;
  libraryType: LibraryType;
  shortDescription: string;
  website: string | null;
  public: Exclude<PublicKind, "none">;
}

/** The public packages of that name. A package that is not public is answered like one that does not exist. */
export async function readPublicPackages(
  pg: Postgres,
  { owner, name, type }: { owner: string; name: string; type?: LibraryType | undefined },
): Promise<PublicPackage[]> {
  if (owner.includes("\0") || name.includes("\0")) return [];
  const text = `
    select p.id, p.owner_id as "ownerId", o.name as owner, p.name, p.library_type as "libraryType",
      p.short_description as "shortDescription", p.website, p.public, p.public_automated as automated
    from packages p join owners o on o.id = p.owner_id
    where o.name_key = lower($1 collate "C") and p.name = $2 and ($3::text is null or p.library_type = $3)
      and p.public <> 'none'
    order by p.library_type`;
  return query<PublicPackage>(pg, text, [owner, name, type ?? null]);
}

export async function readPublicSettings(pg: Postgres, packageId: string): Promise<PackagePublic> {
  const text = "select public, public_automated as automated from packages where id = $1";
  const [row] = await query<PackagePublic>(pg, text, [packageId]);
  return row ?? { public: "none", automated: "include" };
}

/** The package must be locked. */
export async function updatePublicSettings(
  client: Postgres,
  { packageId, settings }: { packageId: string; settings: PackagePublic },
): Promise<void> {
  const text = "update packages set public = $2, public_automated = $3 where id = $1";
  await query(client, text, [packageId, settings.public, settings.automated]);
}

/** The only public one. Of several, none is meant without a type: making one public would change the answer. */
export function choosePublic(
  found: readonly PublicPackage[],
  least: PublicPackage["public"],
): PublicPackage | undefined {
  const shown = found.filter((each) => least === "badge" || each.public === "page");
  return shown.length === 1 ? shown[0] : undefined;
}
