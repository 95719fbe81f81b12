import { isUuid } from "../../../schemas/formats.js";
import { invalidBody } from "../../../schemas/invalid-body.js";
import { type Account, access } from "./access.js";
import { artifactNamed } from "./artifacts.js";
import type { Postgres } from "../postgres/query.js";
import { type PackageRow, readPackage, readPackagesNamed } from "./visible-packages.js";

interface Named {
  account: Account;
  ownerId: string;
  owner: string;
  idOrName: string;
  /** The field of the body that names it. */
  field: string;
}

/** The id of a package of this owner that the caller sees. Throws `invalid-body`, and `ambiguous-name`. */
export async function ownedPackageId(
  pg: Postgres,
  { account, ownerId, owner, idOrName, field }: Named,
): Promise<string> {
  const named = await readPackagesNamed(pg, { accountId: account.id, name: idOrName });
  const byId = await readSeen(pg, account, idOrName);
  const of = [byId, ...named.filter(isSeen)].filter((row) => row?.ownerId === ownerId) as PackageRow[];
  if (of.length === 0)
    throw invalidBody([
      { path: `/${field}`, message: `is not a package of ${owner}; GET /v1/packages lists ids and names` },
    ]);
  return artifactNamed("package", idOrName, of).id;
}

/** The package of that id, if it exists and the caller sees it. */
export async function readSeen(pg: Postgres, account: Account, id: string): Promise<PackageRow | undefined> {
  const row = isUuid(id) ? await readPackage(pg, { accountId: account.id, id }) : undefined;
  return row !== undefined && isSeen(row) ? row : undefined;
}

function isSeen(row: PackageRow): boolean {
  return access(row, "packages.read", row) === "allowed";
}
