import type { ExportedArtifact } from "../../../aggregate/queries/events/open-events.js";
import { Problem } from "../../../schemas/problem.js";
import { exportNotGranted } from "../../base/access/authorise.js";
import {
  type Account,
  type Level,
  type OwnerKind,
  type Standing,
  access,
  reaches,
} from "../../base/access/access.js";
import type { OwnerAction } from "../../base/access/resources.js";
import { type Postgres, query } from "../../base/postgres/query.js";

interface ExportedPixels {
  owners: Pick<OwnerOfAccount, "id" | "kind" | "name">[];
  artifacts: ExportedArtifact[];
}

/** Of every owner with export on whom the caller may do `action`. Throws `forbidden` and `export-not-granted`. */
export async function pixelsForExport(
  pg: Postgres,
  account: Account,
  action: OwnerAction,
): Promise<ExportedPixels> {
  const related = await listOwnersOfAccount(pg, account.id);
  const allowed = related.filter(
    (owner) =>
      access(owner, action, { ownerKind: owner.kind }) === "allowed" && reaches(account.limited, owner.id),
  );
  if (allowed.length === 0)
    throw new Problem(
      "forbidden",
      `You do not have permission for this operation (${action}) for any owner.`,
    );
  const owners = allowed.filter(({ exportEnabled }) => exportEnabled);
  if (owners.length === 0) throw exportNotGranted(account.username);
  const ownerIds = owners.map(({ id }) => id);
  const pixels = await listPixelsOfOwners(pg, { accountId: account.id, ownerIds });
  const artifacts = pixels.map((pixel) => {
    const seesPackage = access(pixel, "packages.read", pixel) === "allowed";
    return { id: pixel.id, packageName: seesPackage ? (pixel.packageName ?? "") : "" };
  });
  return { owners, artifacts };
}

/** A pixel for an export, with the account's standing on its associated package. */
interface ExportedPixel {
  id: string;
  ownerId: string;
  ownerKind: OwnerKind;
  packageName: string | null;
  standing: Standing;
  level: Level | undefined;
}

export async function listPixelsOfPackage(pg: Postgres, packageId: string): Promise<{ id: string }[]> {
  return query(pg, "select id from pixels where package_id = $1 order by id", [packageId]);
}

async function listPixelsOfOwners(
  pg: Postgres,
  { accountId, ownerIds }: { accountId: string; ownerIds: readonly string[] },
): Promise<ExportedPixel[]> {
  const text = `
    select x.id, x.owner_id as "ownerId", o.kind as "ownerKind", p.name as "packageName",
      case when x.owner_id = $1 then 'owner' else coalesce(m.role, 'none') end as standing, l.level
    from pixels x
    join owners o on o.id = x.owner_id
    left join packages p on p.id = x.package_id
    left join memberships m on m.organization_id = x.owner_id and m.account_id = $1
    left join package_permissions l on l.package_id = x.package_id and l.account_id = $1
    where x.owner_id = any($2::uuid[]) order by x.id`;
  return query<ExportedPixel>(pg, text, [accountId, ownerIds]);
}

interface OwnerOfAccount {
  id: string;
  kind: OwnerKind;
  name: string;
  standing: Standing;
  exportEnabled: boolean;
}

async function listOwnersOfAccount(pg: Postgres, accountId: string): Promise<OwnerOfAccount[]> {
  const text = `
    select o.id, o.kind, o.name, o.export_enabled as "exportEnabled",
      case when o.id = $1 then 'owner' else m.role end as standing
    from owners o
    left join memberships m on m.organization_id = o.id and m.account_id = $1
    where o.id = $1 or m.account_id = $1`;
  return query<OwnerOfAccount>(pg, text, [accountId]);
}
