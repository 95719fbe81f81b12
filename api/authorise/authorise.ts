import { Problem } from "../../schemas/problem.js";
import type { Artifact, ArtifactKind, LibraryType } from "../../schemas/records/artifact.js";
import { isUuid } from "../../schemas/formats.js";
import { access, accessWithin, lacks, reaches, type Caller, type Lack, type OwnerKind } from "../access.js";
import type { Action, OwnerAction, PackageAction, PixelAction } from "../resources.js";
import type { Account } from "../stores/accounts/accounts.js";
import { readOwner, type OwnerRow } from "../stores/accounts/organizations.js";
import {
  listPackagesOfOwner,
  lockPackage,
  readPackage,
  readPackagesNamed,
  type PackageRow,
} from "../stores/packages/packages.js";
import { readPixel, type PixelRow } from "../stores/packages/pixels.js";
import type { Postgres } from "../stores/query.js";

/**
 * Lets an action pass that the token may be used for, whatever it is on; an account's own may be for every one. What
 * the token may be used on is up to the functions below. Throws `out-of-scope`.
 */
export function requireScope({ limited }: Account, action: Action): void {
  const lack = lacks(limited, action);
  if (lack !== undefined) throw new Problem("out-of-scope", lackSentence(lack, action));
}

function lackSentence(lack: Lack, action: Action): string {
  if (lack === "account")
    return `Only the account's own token may be used for this (${action}), no additional one.`;
  if (lack === "any-owner")
    return `This token is limited to one owner, and this (${action}) is outside of it.`;
  return `This token does not have the scope ${lack}, which this (${action}) needs.`;
}

/** A user or an organization that the caller may act on. */
export interface Owner {
  id: string;
  kind: OwnerKind;
  /** As its owner wrote it, whatever the case in the request. */
  name: string;
  exportEnabled: boolean;
}

/**
 * The owner of that name, once the caller may do `action` on it. Throws `not-found` where there is none or the
 * caller may not know of it, `forbidden`, and for `export.read` also `export-not-granted`.
 * `kind` narrows it to users or to organizations.
 */
export async function ownerFor(
  pg: Postgres,
  account: Account,
  name: string,
  action: OwnerAction,
  { kind }: { kind?: OwnerKind } = {},
): Promise<Owner> {
  const row = await readOwner(pg, { accountId: account.id, name });
  if (row === undefined || (kind !== undefined && row.kind !== kind)) throw notFound(kind ?? "owner", name);
  const { id: ownerId, kind: ownerKind, standing } = row;
  admit(account, action, { ownerId, ownerKind, standing, what: kind ?? "owner", name });
  if (action === "export.read") requireExport(row);
  return { id: row.id, kind: row.kind, name: row.name, exportEnabled: row.exportEnabled };
}

/**
 * As `ownerFor`, for what is counted over all packages of the owner together: who is blocked from any of them is refused,
 * because it would tell of that one. Throws `forbidden` also for this.
 */
export async function wholeOwnerFor(
  pg: Postgres,
  account: Account,
  name: string,
  action: OwnerAction,
): Promise<Owner> {
  const owner = await ownerFor(pg, account, name, action);
  const packages = await listPackagesOfOwner(pg, { ownerId: owner.id, accountId: account.id });
  if (packages.some((row) => access(row, "packages.read", row) === "hidden"))
    throw new Problem(
      "forbidden",
      `You are blocked from a package of ${owner.name}, and this is about all of them.`,
    );
  return owner;
}

/**
 * The package of that id, or else of that name among those that the caller can see, once they may do `action` on
 * it. Throws `not-found`, `forbidden`, `ambiguous-name` when several have the name, and for `packages.export` also
 * `export-not-granted`.
 */
export async function packageFor(
  pg: Postgres,
  account: Account,
  idOrName: string,
  action: PackageAction,
  { type }: { type?: LibraryType | undefined } = {},
): Promise<PackageRow> {
  const row = await findPackage(pg, account, { idOrName, type });
  if (row === undefined) throw notFound("package", idOrName);
  admit(account, action, { ...row, what: "package", name: idOrName });
  if (action === "packages.export") requireExport(row);
  return row;
}

/**
 * As `packageFor`, with the package and its owner's members locked until the transaction of `client` ends: what was
 * decided stays true of what is changed.
 */
export async function lockedPackageFor(
  client: Postgres,
  account: Account,
  idOrName: string,
  action: PackageAction,
  { type }: { type?: LibraryType | undefined } = {},
): Promise<PackageRow> {
  const { id } = await packageFor(client, account, idOrName, action, { type });
  await lockPackage(client, id);
  return packageFor(client, account, id, action);
}

/** The package of that id (not name) and owner, for paths that name both; otherwise as `packageFor`. */
export async function packageOfOwnerFor(
  pg: Postgres,
  account: Account,
  { owner, id, action }: { owner: string; id: string; action: PackageAction },
): Promise<PackageRow> {
  const row = isUuid(id) ? await readPackage(pg, { accountId: account.id, id }) : undefined;
  if (row === undefined || !sameName(row.owner, owner)) throw notFound("package", id);
  admit(account, action, { ...row, what: "package", name: id });
  return row;
}

/** The pixel of that id and owner, once the caller may do `action` on it. Throws `not-found` and `forbidden`. */
export async function pixelFor(
  pg: Postgres,
  account: Account,
  { owner, id, action }: { owner: string; id: string; action: PixelAction },
): Promise<PixelRow> {
  const row = isUuid(id) ? await readPixel(pg, { accountId: account.id, id }) : undefined;
  if (row === undefined || !sameName(row.owner, owner)) throw notFound("pixel", id);
  admit(account, action, { ...row, what: "pixel", name: id });
  return row;
}

/**
 * What an import line's `$package` or `$pixel` names, if it belongs to that owner and the account may import into
 * it. One query; `undefined` for all else, also for an id that is no UUID. The limits of the token that the import was
 * started with need no other look: it could be used on this owner, or there would be no import.
 */
export async function artifactForImport(
  pg: Postgres,
  { accountId, ownerId, kind, id }: { accountId: string; ownerId: string; kind: ArtifactKind; id: string },
): Promise<Artifact | undefined> {
  if (!isUuid(id)) return undefined;
  const row =
    kind === "package" ? await readPackage(pg, { accountId, id }) : await readPixel(pg, { accountId, id });
  if (row === undefined || row.ownerId !== ownerId) return undefined;
  const action = kind === "package" ? "packages.import" : "pixels.import";
  if (access(row, action, row) !== "allowed") return undefined;
  return { kind, id: row.id, ownerId, libraryType: "libraryType" in row ? row.libraryType : "" };
}

/** A thing with what the caller is to it. */
interface Found extends Caller {
  ownerKind: OwnerKind;
  ownerId: string;
  /** As the caller called it. */
  what: string;
  name: string;
}

/**
 * Lets callers pass who may do `action` on the target found. Throws `not-found`, `out-of-scope` and `forbidden`.
 */
export function admit({ limited }: Account, action: Action, { what, name, ...found }: Found): void {
  const decision = accessWithin({ ...found, limits: limited }, action, found);
  if (decision === "hidden") throw notFound(what, name);
  if (decision === "out-of-scope")
    throw new Problem("out-of-scope", `This token is limited to another owner than that of this ${what}.`);
  if (decision === "forbidden") throw new Problem("forbidden", `You may not do this (${action}) here.`);
}

function requireExport({ exportEnabled }: Pick<OwnerRow, "exportEnabled">): void {
  if (exportEnabled) return;
  throw new Problem("export-not-granted", "Data export is not granted to this owner.");
}

/**
 * A token that is limited to one owner sees that owner's packages first. The id of a package that the caller cannot see
 * may be another one's name: finding that one by it whether or not the id is taken tells nothing of the hidden package.
 */
async function findPackage(
  pg: Postgres,
  account: Account,
  { idOrName, type }: { idOrName: string; type?: LibraryType | undefined },
): Promise<PackageRow | undefined> {
  const byId = isUuid(idOrName) ? await readPackage(pg, { accountId: account.id, id: idOrName }) : undefined;
  if (byId !== undefined && access(byId, "packages.read", byId) !== "hidden") return byId;
  const named = await readPackagesNamed(pg, { accountId: account.id, name: idOrName, type });
  const seen = named.filter((row) => access(row, "packages.read", row) === "allowed");
  const reached = seen.filter((row) => reaches(account.limited, row.ownerId));
  if (reached.length > 1) throw ambiguous(idOrName, reached);
  return reached[0] ?? seen[0] ?? byId;
}

function ambiguous(name: string, rows: readonly PackageRow[]): Problem {
  const which = rows.map((row) => `${row.libraryType} (of ${row.owner})`).join(", ");
  return new Problem(
    "ambiguous-name",
    `Several packages are named ${name}: ${which}. Narrow it with packageType, or give the uuid.`,
  );
}

function notFound(what: string, name: string): Problem {
  return new Problem("not-found", `There is no ${what} ${name} that you can see.`);
}

/** Owner names are ASCII and compared without case. */
function sameName(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
