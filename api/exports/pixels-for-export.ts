import type { ExportedArtifact } from "../../aggregate/queries/events/open-events.js";
import { Problem } from "../../schemas/problem.js";
import { exportNotGranted } from "../access/export-not-granted.js";
import { access, reaches } from "../access/access.js";
import type { OwnerAction } from "../access/resources.js";
import type { Account } from "../access/caller.js";
import { listOwnersOfAccount, listPixelsOfOwners } from "../pixels/exported-pixels.js";
import type { Postgres } from "../postgres/query.js";

export interface ExportedPixels {
  ownerIds: string[];
  artifacts: ExportedArtifact[];
}

/**
 * Every pixel of the owners on which the caller may do the export action `action` and to which export is granted.
 * Throws `forbidden` if the caller may do it on no owner, `export-not-granted` if export is granted to none of them.
 */
export async function pixelsForExport(
  pg: Postgres,
  account: Account,
  action: OwnerAction,
): Promise<ExportedPixels> {
  const owners = await listOwnersOfAccount(pg, account.id);
  const allowed = owners.filter(
    (owner) => access(owner, action, owner) === "allowed" && reaches(account.limited, owner.ownerId),
  );
  if (allowed.length === 0) throw new Problem("forbidden", `You may not do this (${action}) on any owner.`);
  const granted = allowed.filter(({ exportEnabled }) => exportEnabled).map(({ ownerId }) => ownerId);
  if (granted.length === 0) throw exportNotGranted(account.username);
  const pixels = await listPixelsOfOwners(pg, { accountId: account.id, ownerIds: granted });
  const artifacts = pixels.map((pixel) => {
    const seesPackage = access(pixel, "packages.read", pixel) === "allowed";
    return { id: pixel.id, packageName: seesPackage ? (pixel.packageName ?? "") : "" };
  });
  return { ownerIds: granted, artifacts };
}
