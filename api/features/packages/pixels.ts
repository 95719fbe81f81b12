import { v7 as uuidv7 } from "uuid";
import { PIXEL, PIXEL_UPSERT, type PixelRecord, type PixelUpsert } from "../../../schemas/contracts/pixel.js";
import { isUuid, withoutNulls } from "../../../schemas/formats.js";
import type { Account, OwnerKind, Standing } from "../../base/access/access.js";
import { ownedPackageId, readSeen } from "../../base/access/owned-package.js";
import { isBlocked } from "../../base/access/visible-packages.js";
import { type Page, type Postgres, query, readCount } from "../../base/postgres/query.js";
import { columnsOf, insertRow, selectList, updateRow } from "../../base/postgres/record-rows.js";
import type { OwnerAction } from "../../base/access/resources.js";
import { artifactNamed } from "../../base/access/artifacts.js";
import { admit, notFound, sameName } from "../../base/access/authorise.js";
import { Problem } from "../../../schemas/problem.js";

export interface PixelRow extends Omit<PixelRecord, "package_id"> {
  package_id: string | null;
  /** Whether the account is blocked from that package. */
  isPackageHidden: boolean;
  ownerId: string;
  ownerKind: OwnerKind;
  standing: Standing;
}

export function pixelRecord(row: PixelRow): PixelRecord {
  const { isPackageHidden, ownerId: _, ownerKind: __, standing: ___, ...pixel } = row;
  return withoutNulls<PixelRecord>({ ...pixel, ...(isPackageHidden && { package_id: null }) });
}

/** Answers the new pixel's id. Its owner must be locked, because the package could be deleted meanwhile. */
export async function insertPixel(
  pg: Postgres,
  { ownerId, pixel }: { ownerId: string; pixel: PixelUpsert },
): Promise<string> {
  const id = uuidv7();
  await insertRow(pg, "pixels", { id, owner_id: ownerId, ...columnsOf(PIXEL_UPSERT, pixel) });
  return id;
}

/** The owner must be locked, because the package could be deleted meanwhile. */
export async function updatePixel(
  pg: Postgres,
  { id, pixel }: { id: string; pixel: PixelUpsert },
): Promise<void> {
  await updateRow(pg, "pixels", { id, ...columnsOf(PIXEL_UPSERT, pixel) });
}

export async function readPixel(
  pg: Postgres,
  { accountId, id }: { accountId: string; id: string },
): Promise<PixelRow | undefined> {
  const [row] = await query<PixelRow>(pg, `${SELECT} where x.id = $2`, [accountId, id]);
  return row;
}

/** The owner's pixels of exactly that name. The owner is compared without case. */
export async function readPixelsNamed(
  pg: Postgres,
  { accountId, owner, name }: { accountId: string; owner: string; name: string },
): Promise<PixelRow[]> {
  if (name.includes("\0") || owner.includes("\0")) return [];
  const text = `${SELECT} where o.name_key = lower($2 collate "C") and x.name = $3 order by x.id`;
  return query<PixelRow>(pg, text, [accountId, owner, name]);
}

export async function readPixelsOfOwnerNamed(
  pg: Postgres,
  { accountId, ownerId, name }: { accountId: string; ownerId: string; name: string },
): Promise<PixelRow[]> {
  if (name.includes("\0")) return [];
  const text = `${SELECT} where x.owner_id = $2 and x.name = $3 order by x.id`;
  return query<PixelRow>(pg, text, [accountId, ownerId, name]);
}

/** Leaves out pixels of packages that the account is blocked from. Returns one more than the page if there is a next one. */
export async function listPixelsOfOwner(
  pg: Postgres,
  { accountId, ownerId, page }: { accountId: string; ownerId: string; page: Page },
): Promise<PixelRow[]> {
  const text = `${SELECT}
    where x.owner_id = $2 and ($3::uuid is null or x.id < $3) and not (${IS_PACKAGE_HIDDEN})
    order by x.id desc limit $4`;
  return query<PixelRow>(pg, text, [accountId, ownerId, page.after ?? null, page.perPage + 1]);
}

export function countPixels(pg: Postgres, ownerId: string): Promise<number> {
  return readCount(pg, "select count(*)::int from pixels where owner_id = $1", [ownerId]);
}

export async function listPixelNames(
  pg: Postgres,
  ownerId: string,
): Promise<{ id: string; name: string; packageId: string | null }[]> {
  const text = `select id, name, package_id as "packageId" from pixels where owner_id = $1 order by id`;
  return query(pg, text, [ownerId]);
}

const IS_PACKAGE_HIDDEN = isBlocked({
  account: "$1",
  owner: "x.owner_id",
  which: "blocked.package_id = x.package_id",
});

const SELECT = `
  select ${selectList(PIXEL, "x", { owner: "o.name" })}, x.owner_id as "ownerId", o.kind as "ownerKind",
    case when x.owner_id = $1 then 'owner' else coalesce(m.role, 'none') end as standing,
    ${IS_PACKAGE_HIDDEN} as "isPackageHidden"
  from pixels x
  join owners o on o.id = x.owner_id
  left join memberships m on m.organization_id = x.owner_id and m.account_id = $1`;

interface AskedPixel {
  owner: string;
  /** Id, or name among the owner's pixels. */
  idOrName: string;
  action: OwnerAction;
}

/** Throws `not-found`, `forbidden`, and `ambiguous-name` if several of the owner's pixels have the name. */
export async function pixelFor(pg: Postgres, account: Account, asked: AskedPixel): Promise<PixelRow> {
  const { owner, idOrName, action } = asked;
  const [first, ...others] = await findPixels(pg, account.id, asked);
  if (first === undefined || !sameName(first.owner, owner)) throw notFound("pixel", idOrName);
  // One owner's pixels are all hidden from a caller, or none is: only then may the answer say that there are several.
  admit(account, action, { ...first, what: "pixel", name: idOrName });
  return others.length === 0 ? first : artifactNamed("pixel", idOrName, [first, ...others]);
}

async function findPixels(
  pg: Postgres,
  accountId: string,
  { owner, idOrName }: AskedPixel,
): Promise<PixelRow[]> {
  const byId = isUuid(idOrName) ? await readPixel(pg, { accountId, id: idOrName }) : undefined;
  return byId !== undefined && sameName(byId.owner, owner)
    ? [byId]
    : readPixelsNamed(pg, { accountId, owner, name: idOrName });
}

/** A package's export contains its pixels' events: it must belong to the same owner and be visible to the caller. */
export async function withPackageId(
  pg: Postgres,
  { account, ownerId, owner, sent }: { account: Account; ownerId: string; owner: string; sent: PixelUpsert },
): Promise<PixelUpsert> {
  const idOrName = sent.package_id;
  if (idOrName === undefined || idOrName === null) return sent;
  const packageId = await ownedPackageId(pg, { account, ownerId, owner, idOrName, field: "package_id" });
  return { ...sent, package_id: packageId };
}

/** Dissociating a pixel removes its events from the package's export, so that the caller must see the package. */
export async function requireSeen(pg: Postgres, account: Account, packageId: string | null): Promise<void> {
  if (packageId === null || (await readSeen(pg, account, packageId)) !== undefined) return;
  throw new Problem(
    "forbidden",
    "You cannot detach this pixel: it belongs to a package that you do not have access to.",
  );
}
