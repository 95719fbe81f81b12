import { isUuid } from "../../schemas/formats.js";
import type { Artifact, ArtifactKind } from "../../schemas/records/artifact.js";
import { access } from "../access/access.js";
import { readPackage, readPackagesNamed, type PackageRow } from "../access/visible-packages.js";
import { readPixel, readPixelsOfOwnerNamed, type PixelRow } from "../pixels/pixels.js";
import type { Postgres } from "../postgres/query.js";

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
