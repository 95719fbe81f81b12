import type { Level, OwnerKind, Standing } from "../access/access.js";
import { query, type Postgres } from "../postgres/query.js";

/** A pixel for an export, with the account's standing on its associated package. */
export interface ExportedPixel {
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

/** Every pixel of these owners. */
export async function listPixelsOfOwners(
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

/** The account itself, or an organization of the account. */
export interface OwnerOfAccount {
  ownerId: string;
  ownerKind: OwnerKind;
  standing: Standing;
  exportEnabled: boolean;
}

export async function listOwnersOfAccount(pg: Postgres, accountId: string): Promise<OwnerOfAccount[]> {
  const text = `
    select o.id as "ownerId", o.kind as "ownerKind", o.export_enabled as "exportEnabled",
      case when o.id = $1 then 'owner' else m.role end as standing
    from owners o
    left join memberships m on m.organization_id = o.id and m.account_id = $1
    where o.id = $1 or m.account_id = $1`;
  return query<OwnerOfAccount>(pg, text, [accountId]);
}
