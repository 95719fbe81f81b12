import type { ArtifactImportance, FunnelImportance } from "../../schemas/contracts/funnel.js";
import type { FieldFault } from "../../schemas/problem.js";
import { invalidBody } from "../../schemas/validate.js";
import { query, type Postgres } from "../postgres/query.js";

/** The packages and pixels that the caller may change. */
export interface KnownImportance {
  packages: NamedImportance[];
  pixels: NamedImportance[];
}

/** Puts ids where names were sent. An id comes before a name. Throws `invalid-body` naming every fault. */
export function resolveImportance(
  sent: FunnelImportance,
  known: KnownImportance,
  owner: string,
): FunnelImportance {
  const faults: FieldFault[] = [];
  const resolve = (of: "packages" | "pixels"): ArtifactImportance[] => {
    const namedBy = finderIn(known[of]);
    const resolved = new Set<string>();
    return sent[of].flatMap(({ id: idOrName, importance }, index) => {
      const fault = (message: string) => {
        faults.push({ path: `/${of}/${index}/id`, message });
        return [];
      };
      const [found, ...others] = namedBy(idOrName);
      if (found === undefined) return fault(`is none of the ${of} of ${owner} that you may change`);
      if (others.length > 0) return fault(`is the name of several ${of} of ${owner}: give the id`);
      if (resolved.has(found.id)) return fault("is named twice");
      resolved.add(found.id);
      return [{ id: found.id, importance }];
    });
  };
  const wanted = { packages: resolve("packages"), pixels: resolve("pixels") };
  if (faults.length > 0) throw invalidBody(faults);
  return wanted;
}

function finderIn(known: readonly NamedImportance[]): (idOrName: string) => NamedImportance[] {
  const byId = new Map(known.map((each) => [each.id, each]));
  const byName = new Map<string, NamedImportance[]>();
  for (const each of known) byName.set(each.name, [...(byName.get(each.name) ?? []), each]);
  return (idOrName) => {
    const found = byId.get(idOrName.toLowerCase());
    return found === undefined ? (byName.get(idOrName) ?? []) : [found];
  };
}

type Of = "packages" | "pixels";

interface NamedImportance extends ArtifactImportance {
  name: string;
}

/** The importance of an owner's packages or pixels, in order of creation. */
export async function listImportance(
  pg: Postgres,
  { ownerId, of }: { ownerId: string; of: Of },
): Promise<NamedImportance[]> {
  const text = `select id, name, importance from ${of} where owner_id = $1 order by id`;
  return query<NamedImportance>(pg, text, [ownerId]);
}

export async function updateImportance(
  pg: Postgres,
  { of, changed }: { of: Of; changed: readonly ArtifactImportance[] },
): Promise<void> {
  const text = `
    update ${of} set importance = new.importance
    from unnest($1::uuid[], $2::text[]) as new (id, importance) where ${of}.id = new.id`;
  await query(pg, text, [changed.map(({ id }) => id), changed.map(({ importance }) => importance)]);
}
