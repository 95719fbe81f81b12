import type { Pool } from "pg";
import { isUuid } from "../../schemas/formats.js";
import type { EventImport } from "../../schemas/records/import-store.js";
import { Problem } from "../../schemas/problem.js";
import { access } from "../access.js";
import type { OwnerAction } from "../resources.js";
import { admit, ownerFor } from "../authorise/authorise.js";
import type { Account } from "../stores/accounts/accounts.js";
import { readImport, readImportedPackage } from "../stores/imports/imports.js";
import { readPackage, type PackageRow } from "../stores/packages/packages.js";

interface AskedImport {
  /** Name of the owner on the path. */
  owner: string;
  id: string;
  action: OwnerAction;
}

/**
 * The id of the import's owner, if the caller may do `action`. An import into one package is judged on that package, so
 * that a caller who is blocked from it cannot reach its imports. After the package was deleted, and for all other
 * imports, the caller's role with the owner decides.
 * @throws Problem not-found, forbidden
 */
export async function importOwnerFor(
  pg: Pool,
  account: Account,
  { owner, id, action }: AskedImport,
): Promise<string> {
  const packageId = isUuid(id) ? await readImportedPackage(pg, id) : undefined;
  const row = packageId && (await readPackage(pg, { accountId: account.id, id: packageId }));
  const isTheirs = row && row.owner.toLowerCase() === owner.toLowerCase();
  // Strangers get the same answer as for an unknown id.
  if (!isTheirs || (row.standing === "none" && isHidden(row)))
    return (await ownerFor(pg, account, owner, action)).id;
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
  return new Problem("not-found", `There is no import ${id} here.`);
}
