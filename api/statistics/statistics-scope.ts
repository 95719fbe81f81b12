import type { StatisticsQuery } from "../../aggregate/statistics/statistics-query.js";
import { Problem } from "../../schemas/problem.js";
import type { LibraryType } from "../../schemas/records/artifact.js";
import type { Owner } from "../authorise/authorise.js";
import type { OwnerInPart } from "../authorise/owner-in-part.js";
import { listPixelNames } from "../stores/packages/pixels.js";
import type { Postgres } from "../stores/query.js";
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
    return scopeOf([theOne("package", asked.package, { owner, of: typed })], []);
  }
  const withoutPackages = new Set(hidden.map(({ id }) => id));
  const pixels = (hasRole ? await listPixelNames(pg, owner.id) : []).filter(
    ({ packageId }) => packageId === null || !withoutPackages.has(packageId),
  );
  if (asked.pixel !== undefined) return scopeOf([], [theOne("pixel", asked.pixel, { owner, of: pixels })]);
  return scopeOf(packages, pixels);
}

function scopeOf(
  packages: readonly (Named & { libraryType: LibraryType })[],
  pixels: readonly Named[],
): Scope {
  return {
    packages: packages.map(({ id }) => id),
    libraryTypes: new Set(packages.map(({ libraryType }) => libraryType)),
    pixels: pixels.map(({ id }) => id),
  };
}

interface Named {
  id: string;
  name: string;
}

function theOne<Row extends Named>(
  what: "package" | "pixel",
  idOrName: string,
  { owner, of }: { owner: Owner; of: readonly Row[] },
): Row {
  const byId = of.find(({ id }) => id === idOrName.toLowerCase());
  if (byId !== undefined) return byId;
  const [first, ...others] = of.filter(({ name }) => name === idOrName);
  if (first === undefined)
    throw new Problem("not-found", `There is no ${what} ${idOrName} of ${owner.name} that you can see.`);
  if (others.length === 0) return first;
  const narrow = what === "package" ? "Narrow it with packageType, or give the uuid." : "Give the id.";
  throw new Problem("ambiguous-name", `Several ${what}s of ${owner.name} are named ${idOrName}. ${narrow}`);
}
