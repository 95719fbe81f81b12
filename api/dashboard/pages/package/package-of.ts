import type { PackageV1 } from "../../../../schemas/contracts/package.js";
import { Problem } from "../../../../schemas/problem.js";
import type { Visit } from "../../page.js";
import { packagesOf } from "../artifacts-of.js";

/** The package that `:package` in the path names, by its id or name. Throws `not-found` and `ambiguous-name`. */
export async function packageOf(visit: Visit): Promise<PackageV1> {
  const asked = visit.param("package");
  const packages = await packagesOf(visit);
  const byId = packages.find(({ uuid }) => uuid === asked.toLowerCase());
  if (byId !== undefined) return byId;
  const named = packages.filter(({ name }) => name === asked);
  const [only] = named;
  if (only === undefined) throw new Problem("not-found", `There is no package ${asked}.`);
  if (named.length === 1) return only;
  const types = named.map(({ libraryType }) => libraryType).join(", ");
  throw new Problem(
    "ambiguous-name",
    `Several packages have this name (${types}); open one from the overview.`,
  );
}
