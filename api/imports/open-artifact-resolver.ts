import type { ResolveArtifact } from "../../enrich/lookups/artifacts/artifact-cache.js";
import { artifactForImport } from "./artifact-for-import.js";
import { readIdsAndNames } from "../packages/artifact-ids.js";
import type { Postgres } from "../postgres/query.js";

/** After this many unknown ids or names, all of the owner are read at once. */
const MISSES_MAX = 16;
const ARTIFACTS_MAX = 50_000;
const OWNERS_MAX = 100;

interface Known {
  misses: number;
  /** Every id and name of the owner; undefined before `MISSES_MAX` unknown ones, and for owners with too many artifacts. */
  names: ReadonlySet<string> | undefined;
  /** When they were read, by `performance.now()`. */
  readAt: number;
}

/**
 * Answers as `artifactForImport`. A body may name another package on every line. After `MISSES_MAX` unknown ids or
 * names, the owner's are read at once for each chunk, so that a line with an unknown one costs no query. They are not
 * kept for the next chunk, whose lines may have been received after a package was created.
 */
export function openArtifactResolver(pg: Postgres): ResolveArtifact {
  const knownByOwner = new Map<string, Known>();

  async function knownOf(ownerId: string, since: number): Promise<Known> {
    const known = knownByOwner.get(ownerId) ?? { misses: 0, names: undefined, readAt: -Infinity };
    if (known.misses > MISSES_MAX && known.readAt < since) {
      const readAt = performance.now();
      known.names = await readIdsAndNames(pg, { ownerId, artifactsMax: ARTIFACTS_MAX });
      known.readAt = readAt;
    }
    if (knownByOwner.size >= OWNERS_MAX && !knownByOwner.has(ownerId)) knownByOwner.clear();
    knownByOwner.set(ownerId, known);
    return known;
  }

  return async (request, since) => {
    const known = await knownOf(request.ownerId, since);
    if (known.names !== undefined && !known.names.has(request.id)) return undefined;
    const artifact = await artifactForImport(pg, request);
    if (artifact === undefined) known.misses++;
    return artifact;
  };
}
