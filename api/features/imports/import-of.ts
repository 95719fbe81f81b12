import type { Pool } from "pg";
import { isUuid } from "../../../schemas/formats.js";
import { type EventImport, IMPORT_STATUSES } from "../../../schemas/records/import-store.js";
import { Problem } from "../../../schemas/problem.js";
import { type Account, access } from "../../base/access/access.js";
import type { OwnerAction } from "../../base/access/resources.js";
import { admit, ownerFor } from "../../base/access/authorise.js";
import { type ImportFilter, readImport, readImportedInto } from "./imports.js";
import { type PackageRow, readPackage, readPackagesNamed } from "../../base/access/visible-packages.js";
import { artifactNamed } from "../../base/access/artifacts.js";
import { PACKAGE_QUERY, packageTypeOf } from "../packages/packages.js";
import type { Parameters, QueryOf } from "../../base/http/answers/query-parameters.js";
import { readPixelsNamed } from "../packages/pixels.js";
import type { Postgres } from "../../base/postgres/query.js";

interface AskedImport {
  owner: string;
  id: string;
  action: OwnerAction;
  /** Whether the call reaches the lines of the import, to read or to retract them. */
  reachesLines?: boolean;
}

/**
 * The id of the import's owner, if the caller may do `action`. An import into one package is judged on that package, so
 * that a caller who is blocked from it cannot reach its imports. After the package was deleted, and for all other
 * imports, the caller's role with the owner decides. An import whose lines name their packages may have lines of any: a
 * caller who is blocked from one of the owner's reaches the lines only of imports that they started.
 * @throws Problem not-found, forbidden
 */
export async function importOwnerFor(
  pg: Pool,
  account: Account,
  { owner, id, action, reachesLines = false }: AskedImport,
): Promise<string> {
  const into = isUuid(id) ? await readImportedInto(pg, { accountId: account.id, id }) : undefined;
  const packageId = into?.artifactKind === "package" ? into.artifactId : null;
  const row =
    packageId === null ? undefined : await readPackage(pg, { accountId: account.id, id: packageId });
  const isTheirs = row && row.owner.toLowerCase() === owner.toLowerCase();
  // Strangers get the same answer as for an unknown id.
  if (!isTheirs || (row.standing === "none" && isHidden(row))) {
    const { id: ownerId } = await ownerFor(pg, account, owner, action);
    if (reachesLines && into?.artifactKind === "any" && into.isBlocked && !into.isOwn)
      throw new Problem("forbidden", `You do not have permission for this operation (${action}).`);
    return ownerId;
  }
  if (isHidden(row)) throw noImport(id);
  admit(account, "packages.import", { ...row, what: "import", name: id });
  return row.ownerId;
}

function isHidden(row: PackageRow): boolean {
  return access(row, "packages.import", row) === "hidden";
}

/** @throws Problem not-found if the owner has no such import */
export async function importOf(
  pg: Pool,
  { ownerId, id }: { ownerId: string; id: string },
): Promise<EventImport> {
  const record = isUuid(id) ? await readImport(pg, { ownerId, id }) : undefined;
  if (record === undefined) throw noImport(id);
  return record;
}

export function noImport(id: string): Problem {
  return new Problem("not-found", `The import ${id} does not exist.`);
}

export const FILTER_QUERY = {
  status: {
    schema: { type: "string", enum: IMPORT_STATUSES },
    description: "Return only imports with this status",
  },
  package: { schema: { type: "string" }, description: "Return only imports into this package (id or name)" },
  ...PACKAGE_QUERY,
  pixel: { schema: { type: "string" }, description: "Return only imports into this pixel (id or name)" },
} as const satisfies Parameters;

/** Throws `invalid-query`. */
export function requireOneArtifact(asked: QueryOf<typeof FILTER_QUERY>): void {
  if (asked.package !== undefined && asked.pixel !== undefined)
    throw new Problem("invalid-query", "package and pixel cannot be combined.");
}

/** An id is taken as it is: imports outlive what they went into. Throws `not-found` and `ambiguous-name`. */
export async function importFilterFor(
  pg: Postgres,
  asked: QueryOf<typeof FILTER_QUERY>,
  by: { accountId: string; owner: string; ownerId: string },
): Promise<ImportFilter> {
  const { status } = asked;
  const kind = asked.package === undefined ? "pixel" : "package";
  const idOrName = asked[kind];
  if (idOrName === undefined) return { status };
  if (isUuid(idOrName)) return { status, artifact: { kind, id: idOrName } };
  const { accountId, owner, ownerId } = by;
  if (kind === "pixel") {
    const named = await readPixelsNamed(pg, { accountId, owner, name: idOrName });
    return { status, artifact: { kind, id: artifactNamed(kind, idOrName, named).id } };
  }
  const named = await readPackagesNamed(pg, { accountId, name: idOrName, type: packageTypeOf(asked) });
  const seen = named.filter(
    (row) => row.ownerId === ownerId && access(row, "packages.read", row) === "allowed",
  );
  return { status, artifact: { kind, id: artifactNamed(kind, idOrName, seen).id } };
}
