import { Problem } from "../../../schemas/problem.js";
import type { LibraryType } from "../../../schemas/records/artifact.js";
import { isUuid } from "../../../schemas/formats.js";
import {
  type Account,
  type Caller,
  type Lack,
  type OwnerKind,
  access,
  accessWithin,
  lacks,
  reaches,
} from "./access.js";
import type { Action, OwnerAction, PackageAction } from "./resources.js";
import { type OwnerRow, readOwner } from "./owners.js";
import {
  type PackageRow,
  isBlockedFromAny,
  lockPackage,
  readPackage,
  readPackagesNamed,
} from "./visible-packages.js";
import type { Postgres } from "../postgres/query.js";

/** Before the target is known; the functions below check the target. Throws `out-of-scope`. */
export function requireScope({ limited }: Account, action: Action): void {
  const lack = lacks(limited, action);
  if (lack !== undefined) throw new Problem("out-of-scope", lackSentence(lack, action));
}

function lackSentence(lack: Lack, action: Action): string {
  if (lack === "account")
    return `This operation (${action}) requires the account's own token; access tokens cannot be used.`;
  if (lack === "any-owner")
    return `This token is limited to one owner and cannot be used for this operation (${action}).`;
  return `This token lacks the scope ${lack}, which this operation (${action}) requires.`;
}

export interface Owner {
  id: string;
  kind: OwnerKind;
  /** As its owner spelled it, whatever the case in the request. */
  name: string;
  exportEnabled: boolean;
}

/** Throws `not-found`, also for an owner whom the caller may not see, `forbidden` and `export-not-granted`. */
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
  if (action === "export.read") requireExport(row, row.name);
  return { id: row.id, kind: row.kind, name: row.name, exportEnabled: row.exportEnabled };
}

/** For routes that export in another format than their default. Throws as `requireScope` and `ownerFor` do. */
export async function requireExportOf(pg: Postgres, account: Account, name: string): Promise<void> {
  requireScope(account, "export.read");
  await ownerFor(pg, account, name, "export.read");
}

/** As `ownerFor`, over all packages. `forbidden` also if the caller is blocked from any: a sum would reveal it. */
export async function wholeOwnerFor(
  pg: Postgres,
  account: Account,
  name: string,
  action: OwnerAction,
): Promise<Owner> {
  const owner = await ownerFor(pg, account, name, action);
  if (await isBlockedFromAny(pg, { accountId: account.id, ownerId: owner.id }))
    throw new Problem(
      "forbidden",
      `You are blocked from at least one package of ${owner.name}. This operation covers all packages, so you cannot use it.`,
    );
  return owner;
}

/**
 * Finds the package by id, or else by name among those that the caller can see, and checks `action` on it. Throws
 * `not-found`, `forbidden`, `ambiguous-name` if several packages have the name, and for `packages.export` also
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
  if (action === "packages.export") requireExport(row, row.owner);
  return row;
}

/** As `packageFor`, with package and members locked until the transaction ends, so that the decision stays valid. */
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

export async function packageOfOwnerFor(
  pg: Postgres,
  account: Account,
  { owner, idOrName, type }: { owner: string; idOrName: string; type?: LibraryType | undefined },
  action: PackageAction,
): Promise<PackageRow> {
  const row = await findPackage(pg, account, { idOrName, type, owner });
  if (row === undefined) throw notFound("package", idOrName);
  admit(account, action, { ...row, what: "package", name: idOrName });
  return row;
}

interface Found extends Caller {
  ownerKind: OwnerKind;
  ownerId: string;
  /** As the caller spelled it. */
  what: string;
  name: string;
}

/** Checks that the caller may do `action` on the target found. Throws `not-found`, `out-of-scope` and `forbidden`. */
export function admit({ limited }: Account, action: Action, { what, name, ...found }: Found): void {
  const decision = accessWithin({ ...found, limits: limited }, action, found);
  if (decision === "hidden") throw notFound(what, name);
  if (decision === "out-of-scope")
    throw new Problem(
      "out-of-scope",
      `This token is limited to another owner and cannot be used for this ${what}.`,
    );
  if (decision === "forbidden")
    throw new Problem("forbidden", `You do not have permission for this operation (${action}).`);
}

function requireExport({ exportEnabled }: Pick<OwnerRow, "exportEnabled">, owner: string): void {
  if (!exportEnabled) throw exportNotGranted(owner);
}

/**
 * A token that is limited to one owner sees that owner's packages first. The id of a hidden package may be the name of
 * a visible one. The visible one is found whether or not the id exists, so the answer reveals nothing.
 */
async function findPackage(
  pg: Postgres,
  account: Account,
  { idOrName, type, owner }: { idOrName: string; type?: LibraryType | undefined; owner?: string },
): Promise<PackageRow | undefined> {
  const isOfOwner = (row: PackageRow) => owner === undefined || sameName(row.owner, owner);
  const found = isUuid(idOrName) ? await readPackage(pg, { accountId: account.id, id: idOrName }) : undefined;
  const byId = found !== undefined && isOfOwner(found) ? found : undefined;
  if (byId !== undefined && access(byId, "packages.read", byId) !== "hidden") return byId;
  const rows = await readPackagesNamed(pg, { accountId: account.id, name: idOrName, type });
  const named = rows.filter(isOfOwner);
  const seen = named.filter((row) => access(row, "packages.read", row) === "allowed");
  const reached = seen.filter((row) => reaches(account.limited, row.ownerId));
  if (reached.length > 1) throw ambiguous(idOrName, reached);
  return reached[0] ?? seen[0] ?? byId;
}

function ambiguous(name: string, rows: readonly PackageRow[]): Problem {
  const which = rows.map((row) => `${row.libraryType} (of ${row.owner})`).join(", ");
  return new Problem(
    "ambiguous-name",
    `Several packages are named ${name}: ${which}. Add packageType, or use the uuid.`,
  );
}

export function notFound(what: string, name: string): Problem {
  return new Problem(
    "not-found",
    `The ${what} ${name} does not exist, or you do not have access to it${REMEDIES[what] ?? "."}`,
  );
}

const REMEDIES: Readonly<Record<string, string>> = {
  package: ". Use an id or a name from GET /v1/packages.",
  pixel: ". Use an id or a name from GET /v2/pixels/{owner}.",
};

/** Owner names are ASCII and compared without case. */
export function sameName(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

export function exportNotGranted(owner: string): Problem {
  return new Problem(
    "export-not-granted",
    `Data export is not enabled for ${owner}. An operator of this service can enable it with: ` +
      `maintainer-toolchain admin grant-export ${owner}`,
  );
}
