import { newestFirst } from "../../../aggregate/statistics/compare-versions.js";
import { groupsOf, type VersionScheme } from "../../../aggregate/statistics/group-version.js";
import type { EndOfLife } from "../../../schemas/contracts/end-of-life.js";
import { type Postgres, query } from "../../base/postgres/query.js";

export async function readEndsOfLife(pg: Postgres, packageId: string): Promise<EndOfLife[]> {
  const text = `select end_of_life as versions from packages where id = $1`;
  const [row] = await query<{ versions: EndOfLife[] }>(pg, text, [packageId]);
  return row?.versions ?? [];
}

/** The package must be locked. */
export async function updateEndsOfLife(
  client: Postgres,
  { packageId, versions }: { packageId: string; versions: readonly EndOfLife[] },
): Promise<void> {
  await query(client, "update packages set end_of_life = $2::jsonb where id = $1", [
    packageId,
    JSON.stringify(versions),
  ]);
}

export function sortEndsOfLife(versions: readonly EndOfLife[], scheme: VersionScheme): EndOfLife[] {
  const order = newestFirst(scheme);
  return versions
    .map(({ version, date }) => ({ version, date }))
    .sort((one, other) => order(one.version, other.version));
}

/** The date of a version, or else of its narrowest group that has one; null without. */
export function endOfLifeOf(
  version: string,
  { versions, scheme }: { versions: readonly EndOfLife[]; scheme: VersionScheme },
): string | null {
  const dates = new Map(versions.map((each) => [each.version, each.date]));
  const groups = groupsOf(version, scheme);
  return dates.get(groups.find((group) => dates.has(group)) ?? "") ?? null;
}
