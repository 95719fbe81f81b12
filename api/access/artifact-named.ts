import { Problem } from "../../schemas/problem.js";
import type { LibraryType } from "../../schemas/records/artifact.js";
import { notFound } from "./authorise.js";

export interface NamedArtifact {
  id: string;
  name: string;
  /** The type of a package; absent for pixels. */
  libraryType?: LibraryType;
}

/**
 * The package or pixel of that id, or else of that name, among those that the caller can see. Throws `not-found`, and
 * `ambiguous-name` if several have the name.
 */
export function artifactNamed<Row extends NamedArtifact>(
  what: "package" | "pixel",
  idOrName: string,
  of: readonly Row[],
): Row {
  const byId = of.find(({ id }) => id === idOrName.toLowerCase());
  if (byId !== undefined) return byId;
  const named = of.filter(({ name }) => name === idOrName);
  const [first, ...others] = named;
  if (first === undefined) throw notFound(what, idOrName);
  if (others.length === 0) return first;
  const types = named.flatMap(({ libraryType }) => libraryType ?? []).join(", ");
  throw new Problem(
    "ambiguous-name",
    what === "package"
      ? `Several packages are named ${idOrName}: ${types}. Narrow it with packageType, or give the id.`
      : `Several pixels are named ${idOrName}. Give the id.`,
  );
}
