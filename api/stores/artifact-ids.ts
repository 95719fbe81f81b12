import { query, type Postgres } from "./query.js";

/** The ids of all packages and pixels of an owner; undefined where there are more than `idsMax`. */
export async function readArtifactIds(
  pg: Postgres,
  { ownerId, idsMax }: { ownerId: string; idsMax: number },
): Promise<ReadonlySet<string> | undefined> {
  const text = `select id from packages where owner_id = $1
    union all select id from pixels where owner_id = $1 limit $2`;
  const rows = await query<{ id: string }>(pg, text, [ownerId, idsMax + 1]);
  return rows.length > idsMax ? undefined : new Set(rows.map(({ id }) => id));
}
