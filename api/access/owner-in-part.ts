import { access } from "./access.js";
import type { OwnerAction } from "./resources.js";
import type { Account } from "./caller.js";
import { readOwner } from "./owners.js";
import { listPackagesOfOwner, type ListedPackage } from "./visible-packages.js";
import type { Postgres } from "../postgres/query.js";
import { admit, notFound, type Owner } from "./authorise.js";

export interface OwnerInPart {
  owner: Owner;
  /** Those that the caller may read. */
  packages: ListedPackage[];
  /** Those that the caller may not read. Everything else about them is hidden as well. */
  hidden: ListedPackage[];
  /** Whether the caller may do the action on the owner. If not, only on `packages`. */
  hasRole: boolean;
}

/**
 * As `ownerFor`, for reads of an owner's packages. Also admits a caller without a role who has a level on a package:
 * to the packages on which they have one.
 */
export async function ownerInPartFor(
  pg: Postgres,
  account: Account,
  name: string,
  action: OwnerAction,
): Promise<OwnerInPart> {
  const row = await readOwner(pg, { accountId: account.id, name });
  if (row === undefined) throw notFound("owner", name);
  const owned = await listPackagesOfOwner(pg, { ownerId: row.id, accountId: account.id });
  const isSeen = (each: ListedPackage) => access(each, "packages.read", each) === "allowed";
  const packages = owned.filter(isSeen);
  const { id: ownerId, kind: ownerKind, standing } = row;
  const [first] = packages;
  const hasRole = standing !== "none";
  if (hasRole || first === undefined)
    admit(account, action, { ownerId, ownerKind, standing, what: "owner", name });
  else admit(account, "packages.read", { ...first, what: "owner", name });
  const owner = { id: ownerId, kind: ownerKind, name: row.name, exportEnabled: row.exportEnabled };
  return { owner, packages, hidden: owned.filter((each) => !isSeen(each)), hasRole };
}
