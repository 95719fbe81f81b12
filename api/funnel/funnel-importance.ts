import type { ArtifactImportance } from "../../schemas/contracts/funnel-importance.js";
import { query, type Postgres } from "../postgres/query.js";

type Of = "packages" | "pixels";

export interface NamedImportance extends ArtifactImportance {
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
