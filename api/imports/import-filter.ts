import type { ParsedUrlQuery } from "node:querystring";
import { isUuid } from "../../schemas/formats.js";
import { Problem } from "../../schemas/problem.js";
import { IMPORT_STATUSES, type ImportStatus } from "../../schemas/records/import-store.js";
import { access } from "../access/access.js";
import { artifactNamed } from "../access/artifact-named.js";
import { PACKAGE_QUERY, parsePackageType } from "../packages/package-path.js";
import type { Parameter } from "../http/operation.js";
import type { ImportFilter } from "./imports.js";
import { readPackagesNamed } from "../access/visible-packages.js";
import { readPixelsNamed } from "../pixels/pixels.js";
import type { Postgres } from "../postgres/query.js";

export const FILTER_QUERY: Readonly<Record<string, Parameter>> = {
  status: { schema: { type: "string", enum: IMPORT_STATUSES }, description: "Only imports of this status" },
  package: { schema: { type: "string" }, description: "Only imports into this package, by id or name" },
  ...PACKAGE_QUERY,
  pixel: { schema: { type: "string" }, description: "Only imports into this pixel, by id or name" },
};

/** The filter of a list of imports, before it is known whether there is such a package or pixel. */
interface AskedFilter {
  status: ImportStatus | undefined;
  artifact: { kind: "package" | "pixel"; idOrName: string; query: ParsedUrlQuery } | undefined;
}

/** Throws `invalid-query`. */
export function parseImportFilter(query: ParsedUrlQuery): AskedFilter {
  const status = query["status"] as ImportStatus | undefined;
  if (status !== undefined && !IMPORT_STATUSES.includes(status))
    throw new Problem("invalid-query", `status must be one of ${IMPORT_STATUSES.join(", ")}.`);
  parsePackageType(query);
  const kinds = (["package", "pixel"] as const).filter((kind) => query[kind] !== undefined);
  const [kind] = kinds;
  if (kind === undefined) return { status, artifact: undefined };
  const idOrName = query[kind];
  if (kinds.length > 1 || typeof idOrName !== "string")
    throw new Problem("invalid-query", "package or pixel must be one id or name.");
  return { status, artifact: { kind, idOrName, query } };
}

/** An id is taken as it is: imports outlive what they went into. Throws `not-found` and `ambiguous-name`. */
export async function importFilterFor(
  pg: Postgres,
  { status, artifact }: AskedFilter,
  by: { accountId: string; owner: string; ownerId: string },
): Promise<ImportFilter> {
  if (artifact === undefined) return { status };
  const { kind, idOrName, query } = artifact;
  if (isUuid(idOrName)) return { status, artifact: { kind, id: idOrName } };
  const { accountId, owner, ownerId } = by;
  if (kind === "pixel") {
    const named = await readPixelsNamed(pg, { accountId, owner, name: idOrName });
    return { status, artifact: { kind, id: artifactNamed(kind, idOrName, named).id } };
  }
  const named = await readPackagesNamed(pg, { accountId, name: idOrName, type: parsePackageType(query) });
  const seen = named.filter(
    (row) => row.ownerId === ownerId && access(row, "packages.read", row) === "allowed",
  );
  return { status, artifact: { kind, id: artifactNamed(kind, idOrName, seen).id } };
}
