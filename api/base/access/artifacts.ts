import { Problem } from "../../../schemas/problem.js";
import type { Artifact, ArtifactKind, LibraryType } from "../../../schemas/records/artifact.js";
import { notFound } from "./authorise.js";
import { type Postgres, query } from "../postgres/query.js";

export interface NamedArtifact {
  id: string;
  name: string;
  libraryType?: LibraryType;
}

/** By id, or else by name, among those that the caller can see. Throws `not-found` and `ambiguous-name`. */
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
      ? `Several packages are named ${idOrName}: ${types}. Add packageType, or use the id.`
      : `Several pixels are named ${idOrName}. Use the id.`,
  );
}

/** The ids and names of all packages and pixels of an owner; undefined where there are more than `artifactsMax` of these. */
export async function readIdsAndNames(
  pg: Postgres,
  { ownerId, artifactsMax }: { ownerId: string; artifactsMax: number },
): Promise<ReadonlySet<string> | undefined> {
  const text = `select id, name from packages where owner_id = $1
    union all select id, name from pixels where owner_id = $1 limit $2`;
  const rows = await query<{ id: string; name: string }>(pg, text, [ownerId, artifactsMax + 1]);
  return rows.length > artifactsMax ? undefined : new Set(rows.flatMap(({ id, name }) => [id, name]));
}

/** The names of all packages and pixels of an owner by their ids, in order of creation. */
export async function readArtifactNames(pg: Postgres, ownerId: string): Promise<ReadonlyMap<string, string>> {
  const text = `select id, name from packages where owner_id = $1
    union all select id, name from pixels where owner_id = $1 order by id`;
  const rows = await query<{ id: string; name: string }>(pg, text, [ownerId]);
  return new Map(rows.map(({ id, name }) => [id, name]));
}

export async function readArtifacts(
  pg: Postgres,
  targets: readonly { kind: ArtifactKind; id: string }[],
): Promise<Artifact[]> {
  const idsOf = (kind: ArtifactKind) => targets.filter((target) => target.kind === kind).map(({ id }) => id);
  const text = `
    select 'package' as kind, id, owner_id as "ownerId", library_type as "libraryType"
    from packages where id = any($1::uuid[])
    union all select 'pixel', id, owner_id, '' from pixels where id = any($2::uuid[])`;
  return query<Artifact>(pg, text, [idsOf("package"), idsOf("pixel")]);
}
