import type { StatisticsQuery } from "../../aggregate/statistics/statistics-query.js";
import { Problem } from "../../schemas/problem.js";
import type { LibraryType } from "../../schemas/records/artifact.js";
import { access } from "../access.js";
import type { Owner } from "../authorise/authorise.js";
import type { Account } from "../stores/accounts/accounts.js";
import { listPackagesOfOwner } from "../stores/packages/packages.js";
import { listPixelNames } from "../stores/packages/pixels.js";
import type { Postgres } from "../stores/query.js";
import type { StatisticsAsked } from "./parse-statistics-query.js";

export type Scope = Pick<StatisticsQuery, "packages" | "libraryTypes" | "pixels">;

/**
 * The packages and pixels that are counted: one of them, or all of the owner without the packages that the caller is
 * blocked from. Throws `not-found`, and `ambiguous-name` if several have the name.
 */
export async function statisticsScope(
  pg: Postgres,
  account: Account,
  { owner, asked }: { owner: Owner; asked: Pick<StatisticsAsked, "package" | "packageType" | "pixel"> },
): Promise<Scope> {
  const pixels = asked.package === undefined ? await listPixelNames(pg, owner.id) : [];
  if (asked.pixel !== undefined) return scopeOf([], [theOne("pixel", asked.pixel, { owner, of: pixels })]);
  const owned = await listPackagesOfOwner(pg, { ownerId: owner.id, accountId: account.id });
  const seen = owned.filter((row) => access(row, "packages.read", row) === "allowed");
  if (asked.package === undefined) return scopeOf(seen, pixels);
  const { packageType } = asked;
  const typed = seen.filter(({ libraryType }) => packageType === undefined || libraryType === packageType);
  return scopeOf([theOne("package", asked.package, { owner, of: typed })], []);
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
