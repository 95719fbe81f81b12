import type { Pool } from "pg";
import {
  PACKAGE_ACCESS,
  PACKAGE_PERMISSIONS_SET,
  PACKAGE_PERMISSION_GET,
  PERMISSIONS_MAX,
  type PackageAccess,
  parsePackagePermissionsSet,
} from "../../../schemas/contracts/package-access.js";
import { packageFor, packageOfOwnerFor } from "../../base/access/authorise.js";
import { MIB } from "../../base/http/body-limits.js";
import { entityTag } from "../../base/http/answers/headers.js";
import { LIST_QUERY, listAnswer, listPage } from "../../base/http/answers/paging.js";
import { readJson } from "../../base/http/middleware/read-json.js";
import {
  PACKAGE_PATH,
  PACKAGE_PROBLEMS,
  PACKAGE_QUERY,
  packageOnPath,
  packageRecord,
  packageTypeOf,
} from "./packages.js";
import { type Route, route } from "../../base/http/route.js";
import { listPermissions, setPermissions } from "./permissions.js";
import { type Account, accessWithin, lacks } from "../../base/access/access.js";
import type { PackageAction } from "../../base/access/resources.js";
import type { PackageRow } from "../../base/access/visible-packages.js";
import type { Postgres } from "../../base/postgres/query.js";
import { PACKAGE_EXAMPLE } from "./package-routes.js";

export function packagePermissionRoutes({ pg }: { pg: Pool }): Route[] {
  return [
    route({
      method: "GET",
      path: "/v1/packages/:package/permissions",
      action: "permissions.read",
      operation: {
        id: "listPackagePermissions",
        summary: "List explicit permissions on a package",
        description:
          "Sorted by username, ignoring case. Users who only have the access of their role are not listed.",
        answers: {
          200: listAnswer("The explicit permissions", PACKAGE_PERMISSION_GET, {
            username: "ada",
            permissionLevel: "member",
          }),
        },
        path: PACKAGE_PATH,
        query: { ...PACKAGE_QUERY, ...LIST_QUERY },
        problems: PACKAGE_PROBLEMS,
      },
      async handle({ ctx, account, action, query, param }) {
        const type = packageTypeOf(query);
        const { id } = await packageFor(pg, account, param("package"), action, { type });
        const permissions = await listPermissions(pg, id);
        ctx.set("ETag", entityTag(permissions));
        ctx.body = listPage({ ctx, query }, permissions, ({ username }) => username);
      },
    }),
    route({
      method: "POST",
      path: "/v1/packages/:package/permissions",
      action: "permissions.write",
      operation: {
        id: "setPackagePermissions",
        summary: "Set permissions on a package",
        description:
          `Send one permission, or an array of up to ${PERMISSIONS_MAX}, which is applied completely or not at ` +
          "all. A userQuery is an email address if it contains `@`, otherwise a username; a user can be " +
          "listed only once. `default` removes the explicit permission. Users can change their own permission " +
          "too. The owner of the package, and the owners of its organization, always keep full access. " +
          "`If-Match` accepts the `ETag` of the permission list.",
        body: {
          schema: PACKAGE_PERMISSIONS_SET,
          example: [
            { userQuery: "ada", permissionLevel: "admin" },
            { userQuery: "grace@acme.example", permissionLevel: "default" },
          ],
          limits: { bytesMax: MIB, valuesMax: 4 * PERMISSIONS_MAX },
        },
        answers: { 204: { description: "Permissions set" } },
        path: PACKAGE_PATH,
        query: PACKAGE_QUERY,
        problems: [...PACKAGE_PROBLEMS, "unknown-user", "precondition-failed"],
      },
      async handle(call) {
        await setPermissions(pg, call, await readJson(call.ctx, parsePackagePermissionsSet));
        call.ctx.status = 204;
      },
    }),
  ];
}

/** The caller's rights to a package, which a page needs before it offers something. */
export function packageAccessRoutes({ pg }: { pg: Postgres }): Route[] {
  return [
    route({
      method: "GET",
      path: "/v2/packages/:owner/:package/access",
      action: "packages.read",
      operation: {
        id: "readPackageAccess",
        summary: "Get a package and your permissions on it",
        description: "Returns the permissions of the token used for the request.",
        path: PACKAGE_PATH,
        query: PACKAGE_QUERY,
        answers: {
          200: {
            description: "The package and your permissions on it",
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
