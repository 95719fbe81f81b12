import type { ResolveArtifact } from "../../../enrich/lookups/artifact-cache.js";
import { readIdsAndNames } from "../../base/access/artifacts.js";
import type { Postgres } from "../../base/postgres/query.js";
import { isUuid } from "../../../schemas/formats.js";
import type { Artifact, ArtifactKind } from "../../../schemas/records/artifact.js";
import { access } from "../../base/access/access.js";
import { type PackageRow, readPackage, readPackagesNamed } from "../../base/access/visible-packages.js";
import { type PixelRow, readPixel, readPixelsOfOwnerNamed } from "../packages/pixels.js";

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

/** As `artifactForImport`. After `MISSES_MAX` unknown names, reads all of the owner's at once, for one chunk. */
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

interface ImportedArtifact {
  accountId: string;
  ownerId: string;
  kind: ArtifactKind;
  /** Its id or its name. */
  id: string;
}

/**
 * Resolves an import line's `$package` or `$pixel`, if it belongs to that owner and the account may import into it. One
 * query. Answers `undefined` otherwise, also for a name that several have into which the account may import. The token's
 * limits were checked when the import started.
 */
export async function artifactForImport(
  pg: Postgres,
  { accountId, ownerId, kind, id }: ImportedArtifact,
): Promise<Artifact | undefined> {
  const rows = await readArtifactRows(pg, { accountId, ownerId, kind, id });
  const action = kind === "package" ? "packages.import" : "pixels.import";
  const [row, ...others] = rows.filter(
    (row) => row.ownerId === ownerId && access(row, action, row) === "allowed",
  );
  if (row === undefined || others.length > 0) return undefined;
  const libraryType = "libraryType" in row ? row.libraryType : "";
  return { kind, id: row.id, ownerId, libraryType, name: row.name };
}

async function readArtifactRows(
  pg: Postgres,
  { accountId, ownerId, kind, id }: ImportedArtifact,
): Promise<(PackageRow | PixelRow)[]> {
  if (!isUuid(id))
    return kind === "package"
      ? readPackagesNamed(pg, { accountId, ownerId, name: id })
      : readPixelsOfOwnerNamed(pg, { accountId, ownerId, name: id });
  const row =
    kind === "package" ? await readPackage(pg, { accountId, id }) : await readPixel(pg, { accountId, id });
  return row === undefined ? [] : [row];
}
