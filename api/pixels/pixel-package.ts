import type { PixelUpsert } from "../../schemas/contracts/pixel.js";
import { isUuid } from "../../schemas/formats.js";
import { Problem } from "../../schemas/problem.js";
import { invalidBody } from "../../schemas/validate.js";
import { access } from "../access/access.js";
import type { Account } from "../access/caller.js";
import { readPackage, readPackagesNamed, type PackageRow } from "../access/visible-packages.js";
import type { Postgres } from "../postgres/query.js";
import { artifactNamed } from "../access/artifact-named.js";

/**
 * The pixel with its package's id, where a name was sent. A package's export contains its pixels' events, so that the
 * package must belong to the same owner and be visible to the caller.
 */
export async function withPackageId(
  pg: Postgres,
  { account, ownerId, owner, sent }: { account: Account; ownerId: string; owner: string; sent: PixelUpsert },
): Promise<PixelUpsert> {
  const idOrName = sent.package_id;
  if (idOrName === undefined || idOrName === null) return sent;
  const named = await readPackagesNamed(pg, { accountId: account.id, name: idOrName });
  const byId = await readSeen(pg, account, idOrName);
  const of = [byId, ...named.filter(isSeen)].filter((row) => row?.ownerId === ownerId) as PackageRow[];
  if (of.length === 0)
    throw invalidBody([
      { path: "/package_id", message: `is not a package of ${owner}: ids and names are at GET /v1/packages` },
    ]);
  return { ...sent, package_id: artifactNamed("package", idOrName, of).id };
}

/** Dissociating a pixel removes its events from the package's export, so that the caller must see the package. */
export async function requireSeen(pg: Postgres, account: Account, packageId: string | null): Promise<void> {
  if (packageId === null || (await readSeen(pg, account, packageId)) !== undefined) return;
  throw new Problem("forbidden", "You may not take this pixel from its package, which you cannot see.");
}

/** The package of that id, if it exists and the caller sees it. */
async function readSeen(pg: Postgres, account: Account, id: string): Promise<PackageRow | undefined> {
  const row = isUuid(id) ? await readPackage(pg, { accountId: account.id, id }) : undefined;
  return row !== undefined && isSeen(row) ? row : undefined;
}

function isSeen(row: PackageRow): boolean {
  return access(row, "packages.read", row) === "allowed";
}
