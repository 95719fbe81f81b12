import { LIBRARY_TYPES, type LibraryType } from "../../schemas/artifact.js";
import { parsePackageUpsert, storedType } from "../../schemas/package.js";
import { Problem } from "../../schemas/problem.js";
import { access, reaches } from "../access.js";
import { ownerFor, packageFor } from "../authorise.js";
import { readJson } from "../middleware/read-json.js";
import { route, type ApiContext, type Route } from "../route.js";
import type { Account } from "../stores/accounts.js";
import {
  insertPackage,
  listPackagesOfAccount,
  listPackagesOfOwner,
  packageRecord,
  type PackageRow,
} from "../stores/packages.js";
import type { Postgres } from "../stores/query.js";

export function packageRoutes({ pg }: { pg: Postgres }): Route[] {
  return [
    route({
      method: "GET",
      path: "/v1/packages",
      action: "packages.list-own",
      async handle({ ctx, account }) {
        const rows = await listPackagesOfAccount(pg, account.id);
        ctx.body = readable(rows.filter((row) => reaches(account.limited, row.ownerId)));
      },
    }),
    route({
      method: "POST",
      path: "/v1/packages",
      action: "packages.create",
      async handle({ ctx, account, action }) {
        const owner = await ownerFor(pg, account, account.username, action);
        await createPackage(pg, { ctx, account, ownerId: owner.id });
      },
    }),
    route({
      method: "GET",
      path: "/v1/packages/:package",
      action: "packages.read",
      async handle({ ctx, account, action, param }) {
        const type = parsePackageType(ctx.query["packageType"]);
        ctx.body = packageRecord(await packageFor(pg, account, param("package"), action, { type }));
      },
    }),
    route({
      method: "GET",
      path: "/v1/organizations/:organization/packages",
      action: "packages.list",
      async handle({ ctx, account, action, param }) {
        const owner = await ownerFor(pg, account, param("organization"), action, { kind: "organization" });
        ctx.body = readable(await listPackagesOfOwner(pg, { accountId: account.id, ownerId: owner.id }));
      },
    }),
    route({
      method: "POST",
      path: "/v1/organizations/:organization/packages",
      action: "packages.create",
      async handle({ ctx, account, action, param }) {
        const owner = await ownerFor(pg, account, param("organization"), action, { kind: "organization" });
        await createPackage(pg, { ctx, account, ownerId: owner.id });
      },
    }),
  ];
}

async function createPackage(
  pg: Postgres,
  { ctx, account, ownerId }: { ctx: ApiContext; account: Account; ownerId: string },
): Promise<void> {
  const sent = await readJson(ctx, parsePackageUpsert);
  const id = await insertPackage(pg, { ownerId, package: sent });
  ctx.status = 201;
  ctx.set("Location", `/v1/packages/${id}`);
  ctx.body = packageRecord(await packageFor(pg, account, id, "packages.read"));
}

/** Lists leave out what the caller is blocked from. */
function readable(rows: readonly PackageRow[]) {
  return rows.filter((row) => access(row, "packages.read", row) === "allowed").map(packageRecord);
}

function parsePackageType(text: string | string[] | undefined): LibraryType | undefined {
  if (text === undefined) return undefined;
  const types = [...LIBRARY_TYPES, "file"] as const;
  const type = types.find((each) => each === text);
  if (type !== undefined) return storedType(type);
  throw new Problem("invalid-query", `packageType must be one of ${types.join(", ")}.`);
}
