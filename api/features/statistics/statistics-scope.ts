import type { StatisticsQuery } from "../../../aggregate/statistics/statistics-query.js";
import type { LibraryType } from "../../../schemas/records/artifact.js";
import { type Account, access } from "../../base/access/access.js";
import { type NamedArtifact, artifactNamed } from "../../base/access/artifacts.js";
import { type Owner, admit, notFound } from "../../base/access/authorise.js";
import { readOwner } from "../../base/access/owners.js";
import type { OwnerAction } from "../../base/access/resources.js";
import { type ListedPackage, listPackagesOfOwner } from "../../base/access/visible-packages.js";
import { listPixelNames } from "../packages/pixels.js";
import type { Postgres } from "../../base/postgres/query.js";
import type { StatisticsAsked } from "./statistics-asked.js";

export type Scope = Pick<StatisticsQuery, "packages" | "libraryTypes" | "pixels">;

/** One, or all that the caller may see; pixels are hidden with their package. Throws `not-found`, `ambiguous-name`. */
export async function statisticsScope(
  pg: Postgres,
  part: OwnerInPart,
  asked: Pick<StatisticsAsked, "package" | "packageType" | "pixel">,
): Promise<Scope> {
  const { packageType: type } = asked;
  if (asked.package !== undefined) {
    const typed = part.packages.filter(({ libraryType }) => type === undefined || libraryType === type);
    return scopeOf([artifactNamed("package", asked.package, typed)], []);
  }
  const pixels = await pixelsInPart(pg, part);
  if (asked.pixel !== undefined) return scopeOf([], [artifactNamed("pixel", asked.pixel, pixels)]);
  return scopeOf(part.packages, pixels);
}

/** The pixels that the caller may see: without a role none, and none of a hidden package. */
export async function pixelsInPart(
  pg: Postgres,
  { owner, hidden, hasRole }: Omit<OwnerInPart, "packages">,
): Promise<NamedArtifact[]> {
  if (!hasRole) return [];
  const withoutPackages = new Set(hidden.map(({ id }) => id));
  const pixels = await listPixelNames(pg, owner.id);
  return pixels.filter(({ packageId }) => packageId === null || !withoutPackages.has(packageId));
}

function scopeOf(
  packages: readonly (NamedArtifact & { libraryType: LibraryType })[],
  pixels: readonly NamedArtifact[],
): Scope {
  return {
    packages: packages.map(({ id }) => id),
    libraryTypes: new Set(packages.map(({ libraryType }) => libraryType)),
    pixels: pixels.map(({ id }) => id),
  };
}

export interface OwnerInPart {
  owner: Owner;
  /** Those that the caller may read. */
  packages: ListedPackage[];
  /** Those that the caller may not read. Everything else about them is hidden as well. */
  hidden: ListedPackage[];
  /** Whether the caller may do the action on the owner. If not, only on `packages`. */
  hasRole: boolean;
}

/** As `ownerFor`, but also admits a caller without a role to the packages on which they have a level. */
export async function ownerInPartFor(
  pg: Postgres,
  account: Account,
  name: string,
  action: OwnerAction,
): Promise<OwnerInPart> {
  const row = await readOwner(pg, { accountId: account.id, name });
  if (row === undefined) throw notFound("owner", name);
  const owned = await listPackagesOfOwner(pg, { ownerId: row.id, accountId: account.id });
  const isSeen = (each: ListedPackage) => access(each, "packages.read", each) === "allowed";
  const packages = owned.filter(isSeen);
  const { id: ownerId, kind: ownerKind, standing } = row;
  const [first] = packages;
  const hasRole = standing !== "none";
  if (hasRole || first === undefined)
    admit(account, action, { ownerId, ownerKind, standing, what: "owner", name });
  else admit(account, "packages.read", { ...first, what: "owner", name });
  const owner = { id: ownerId, kind: ownerKind, name: row.name, exportEnabled: row.exportEnabled };
  return { owner, packages, hidden: owned.filter((each) => !isSeen(each)), hasRole };
}
