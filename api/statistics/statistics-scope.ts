import type { StatisticsQuery } from "../../aggregate/statistics/statistics-query.js";
import type { LibraryType } from "../../schemas/records/artifact.js";
import { artifactNamed, type NamedArtifact } from "../access/artifact-named.js";
import type { OwnerInPart } from "../access/owner-in-part.js";
import { listPixelNames } from "../pixels/pixels.js";
import type { Postgres } from "../postgres/query.js";
import type { StatisticsAsked } from "./parse-statistics-query.js";

export type Scope = Pick<StatisticsQuery, "packages" | "libraryTypes" | "pixels">;

/**
 * The packages and pixels that are counted: one of them, or all that the caller may see. A pixel of a package that the
 * caller is blocked from is hidden like the package. Throws `not-found`, and `ambiguous-name` if several have the name.
 */
export async function statisticsScope(
  pg: Postgres,
  { owner, packages, hidden, hasRole }: OwnerInPart,
  asked: Pick<StatisticsAsked, "package" | "packageType" | "pixel">,
): Promise<Scope> {
  const { packageType: type } = asked;
  if (asked.package !== undefined) {
    const typed = packages.filter(({ libraryType }) => type === undefined || libraryType === type);
    return scopeOf([artifactNamed("package", asked.package, typed)], []);
  }
  const withoutPackages = new Set(hidden.map(({ id }) => id));
  const pixels = (hasRole ? await listPixelNames(pg, owner.id) : []).filter(
    ({ packageId }) => packageId === null || !withoutPackages.has(packageId),
  );
  if (asked.pixel !== undefined) return scopeOf([], [artifactNamed("pixel", asked.pixel, pixels)]);
  return scopeOf(packages, pixels);
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
