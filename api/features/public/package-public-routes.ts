import type { Pool } from "pg";
import {
  PACKAGE_PUBLIC,
  PACKAGE_PUBLIC_SET,
  type PackagePublic,
  parsePackagePublic,
} from "../../../schemas/contracts/package-access.js";
import { answerRecord, entityTag, requireMatch } from "../../base/http/answers/headers.js";
import { changedFields } from "../../base/access/audit-entries.js";
import { lockedPackageFor, packageOfOwnerFor } from "../../base/access/authorise.js";
import {
  PACKAGE_PATH,
  PACKAGE_PROBLEMS,
  PACKAGE_QUERY,
  type PackageCall,
  packageOnPath,
} from "../packages/packages.js";
import { readJson } from "../../base/http/middleware/read-json.js";
import { type Route, route } from "../../base/http/route.js";
import { inTransaction } from "../../base/postgres/connection.js";
import { readPublicSettings, updatePublicSettings } from "./public-packages.js";

const PATH = "/v2/packages/:owner/:package/public";
const ON_PACKAGE = { path: PACKAGE_PATH, query: PACKAGE_QUERY } as const;
const EXAMPLE: PackagePublic = { public: "badge", automated: "exclude" };

/** The setting of how much everybody may see of a package: see `badgeRoutes` and `publicPageRoutes`. */
export function packagePublicRoutes({ pg }: { pg: Pool }): Route[] {
  return [
    route({
      method: "GET",
      path: PATH,
      action: "packages.update",
      operation: {
        id: "getPackagePublic",
        ...ON_PACKAGE,
        summary: "Get a package's public visibility",
        answers: { 200: { description: "The public visibility", schema: PACKAGE_PUBLIC, example: EXAMPLE } },
        problems: PACKAGE_PROBLEMS,
      },
      async handle(call) {
        const { id } = await packageOfOwnerFor(pg, call.account, packageOnPath(call), call.action);
        answerRecord(call.ctx, await readPublicSettings(pg, id));
      },
    }),
    route({
      method: "PUT",
      path: PATH,
      action: "packages.update",
      operation: {
        id: "setPackagePublic",
        ...ON_PACKAGE,
        summary: "Set a package's public visibility",
        description:
          "`none`: nothing is public. `badge`: the badge and its numbers are public. `page`: there is " +
          "also a public page with downloads by day, versions, clients, platforms and countries. " +
          "`automated` defaults to `include`. Caches may show the previous state for up to an hour.",
        body: { schema: PACKAGE_PUBLIC_SET, example: EXAMPLE },
        answers: { 200: { description: "The public visibility", schema: PACKAGE_PUBLIC, example: EXAMPLE } },
        problems: [...PACKAGE_PROBLEMS, "precondition-failed"],
      },
      handle: (call) => changePublic(pg, call),
    }),
  ];
}

async function changePublic(pg: Pool, call: PackageCall<"packages.update">): Promise<void> {
  const sent = await readJson(call.ctx, parsePackagePublic);
  await inTransaction(pg, async (client) => {
    const named = await packageOfOwnerFor(client, call.account, packageOnPath(call), call.action);
    const { id, ownerId, name } = await lockedPackageFor(client, call.account, named.id, call.action);
    const before = await readPublicSettings(client, id);
    requireMatch(call.ctx, entityTag(before));
    await updatePublicSettings(client, { packageId: id, settings: sent });
    const changes = changedFields(before, sent);
    await call.record(client, { ownerId, target: { kind: "package", id, name }, changes });
  });
  answerRecord(call.ctx, sent);
}
