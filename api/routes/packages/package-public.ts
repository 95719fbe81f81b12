import type { Pool } from "pg";
import {
  PACKAGE_PUBLIC,
  parsePackagePublic,
  type PackagePublic,
} from "../../../schemas/contracts/packages/package-public.js";
import { entityTag, requireMatch } from "../../answers/entity-tag.js";
import { packageOfOwnerFor } from "../../authorise/authorise.js";
import { PACKAGE_PROBLEMS, PACKAGE_QUERY, parsePackageType } from "../../authorise/package-path.js";
import { readJson } from "../../middleware/read-json.js";
import { route, type Call, type Route } from "../../route.js";
import { inTransaction } from "../../stores/connection.js";
import { lockPackage } from "../../stores/packages/packages.js";
import { readPublicKind, updatePublicKind } from "../../stores/packages/public-packages.js";

const PATH = "/v2/packages/:owner/:package/public";
const ON_PACKAGE = {
  path: {
    package: { schema: { type: "string" }, description: "The package's uuid, or its name, percent-encoded" },
  },
  query: PACKAGE_QUERY,
} as const;
const EXAMPLE: PackagePublic = { public: "badge" };

/** What everybody may see of a package: see `badgeRoutes` and `publicPageRoutes`. */
export function packagePublicRoutes({ pg }: { pg: Pool }): Route[] {
  return [
    route({
      method: "GET",
      path: PATH,
      action: "packages.update",
      operation: {
        id: "getPackagePublic",
        ...ON_PACKAGE,
        summary: "Read what everybody may see of a package",
        answers: { 200: { description: "The setting", schema: PACKAGE_PUBLIC, example: EXAMPLE } },
        problems: PACKAGE_PROBLEMS,
      },
      async handle(call) {
        const { id } = await packageOf(pg, call);
        answer(call.ctx, { public: await readPublicKind(pg, id) });
      },
    }),
    route({
      method: "PUT",
      path: PATH,
      action: "packages.update",
      operation: {
        id: "setPackagePublic",
        ...ON_PACKAGE,
        summary: "Set what everybody may see of a package",
        description:
          "`none`: nothing. `badge`: the numbers of its badge. `page`: these, and a page with its downloads by day, " +
          "versions, clients, platforms and countries. Caches may show what they have for up to an hour.",
        body: { schema: PACKAGE_PUBLIC, example: EXAMPLE },
        answers: { 200: { description: "The setting", schema: PACKAGE_PUBLIC, example: EXAMPLE } },
        problems: [...PACKAGE_PROBLEMS, "precondition-failed"],
      },
      handle: (call) => changePublic(pg, call),
    }),
  ];
}

async function changePublic(pg: Pool, call: Call<"packages.update">): Promise<void> {
  const sent = await readJson(call.ctx, parsePackagePublic);
  await inTransaction(pg, async (client) => {
    const { id } = await packageOf(client, call);
    await lockPackage(client, id);
    // Again under the lock: the caller's rights may have changed while it waited.
    const { ownerId, name } = await packageOf(client, call, id);
    const before: PackagePublic = { public: await readPublicKind(client, id) };
    requireMatch(call.ctx, entityTag(before));
    await updatePublicKind(client, { packageId: id, kind: sent.public });
    const changes = before.public === sent.public ? {} : { public: sent.public };
    await call.record(client, { ownerId, target: { kind: "package", id, name }, changes });
  });
  answer(call.ctx, sent);
}

function packageOf(
  pg: Parameters<typeof packageOfOwnerFor>[0],
  { ctx, account, action, param }: Call<"packages.update">,
  idOrName = param("package"),
) {
  const type = parsePackageType(ctx.query);
  return packageOfOwnerFor(pg, account, { owner: param("owner"), idOrName, type }, action);
}

function answer(ctx: Call["ctx"], setting: PackagePublic): void {
  ctx.set("ETag", entityTag(setting));
  ctx.body = setting;
}
