import { PACKAGE_ACCESS, type PackageAccess } from "../../schemas/contracts/package-access.js";
import { accessWithin, lacks } from "../access/access.js";
import { packageOfOwnerFor } from "../access/authorise.js";
import { PACKAGE_PATH, PACKAGE_PROBLEMS, PACKAGE_QUERY, packageOnPath } from "./package-path.js";
import type { PackageAction } from "../access/resources.js";
import { route, type Route } from "../http/route.js";
import type { Account } from "../access/caller.js";
import { packageRecord } from "./packages.js";
import type { PackageRow } from "../access/visible-packages.js";
import type { Postgres } from "../postgres/query.js";
import { PACKAGE_EXAMPLE } from "./package-routes.js";

/** The caller's rights to a package, which a page needs before it offers something. */
export function packageAccessRoutes({ pg }: { pg: Postgres }): Route[] {
  return [
    route({
      method: "GET",
      path: "/v2/packages/:owner/:package/access",
      action: "packages.read",
      operation: {
        id: "readPackageAccess",
        summary: "Read a package of an owner, and what you may do with it",
        description: "The rights are those of the token of the request.",
        path: PACKAGE_PATH,
        query: PACKAGE_QUERY,
        answers: {
          200: {
            description: "The package and your rights",
            schema: PACKAGE_ACCESS,
            example: { package: PACKAGE_EXAMPLE, may_change: false, may_import: false, may_export: true },
          },
        },
        problems: PACKAGE_PROBLEMS,
      },
      async handle(call) {
        const row = await packageOfOwnerFor(pg, call.account, packageOnPath(call), call.action);
        call.ctx.body = accessOf(row, call.account);
      },
    }),
  ];
}

function accessOf(row: PackageRow, { limited }: Account): PackageAccess {
  const may = (action: PackageAction) =>
    lacks(limited, action) === undefined &&
    accessWithin({ ...row, limits: limited }, action, row) === "allowed";
  return {
    package: packageRecord(row),
    may_change: may("packages.update"),
    may_import: may("packages.import"),
    may_export: row.exportEnabled && may("packages.export"),
  };
}
