import type { Pool } from "pg";
import {
  PACKAGE_PERMISSION_GET,
  PACKAGE_PERMISSIONS_SET,
  parsePackagePermissionsSet,
  PERMISSIONS_MAX,
} from "../../schemas/contracts/package-permission.js";
import { packageFor } from "../access/authorise.js";
import { entityTag } from "../http/answers/entity-tag.js";
import { LIST_HEADERS, LIST_QUERY, listPage } from "../http/answers/list-page.js";
import { readJson } from "../http/middleware/read-json.js";
import { PACKAGE_PATH, PACKAGE_PROBLEMS, PACKAGE_QUERY, parsePackageType } from "./package-path.js";
import { route, type Route } from "../http/route.js";
import { setPermissions } from "./set-permissions.js";
import { listPermissions } from "./stored-permissions.js";

export function packagePermissionRoutes({ pg }: { pg: Pool }): Route[] {
  return [
    route({
      method: "GET",
      path: "/v1/packages/:package/permissions",
      action: "permissions.read",
      operation: {
        id: "listPackagePermissions",
        summary: "List the explicit permission levels on a package",
        description:
          "Sorted by username without regard to case. Users who have what their role gives them are not listed.",
        answers: {
          200: {
            description: "The explicit levels",
            schema: { type: "array", items: PACKAGE_PERMISSION_GET },
            example: [{ username: "ada", permissionLevel: "member" }],
            headers: LIST_HEADERS,
          },
        },
        path: PACKAGE_PATH,
        query: { ...PACKAGE_QUERY, ...LIST_QUERY },
        problems: PACKAGE_PROBLEMS,
      },
      async handle({ ctx, account, action, param }) {
        const type = parsePackageType(ctx.query);
        const { id } = await packageFor(pg, account, param("package"), action, { type });
        const permissions = await listPermissions(pg, id);
        ctx.set("ETag", entityTag(permissions));
        ctx.body = listPage(ctx, permissions, ({ username }) => username);
      },
    }),
    route({
      method: "POST",
      path: "/v1/packages/:package/permissions",
      action: "permissions.write",
      operation: {
        id: "setPackagePermissions",
        summary: "Set the permission levels of users on a package",
        description:
          `One, or an array of up to ${PERMISSIONS_MAX}, all or nothing. A userQuery is an e-mail address if it ` +
          "contains `@`, else a username; several that name the same user are refused. `default` takes the explicit " +
          "level away. Users may change their own level too. The owner of the package, and the owners of an " +
          "organization that it belongs to, keep every right whatever level is set for them. `If-Match` takes the " +
          "`ETag` of the list of levels.",
        body: {
          schema: PACKAGE_PERMISSIONS_SET,
          example: [
            { userQuery: "ada", permissionLevel: "admin" },
            { userQuery: "grace@acme.example", permissionLevel: "default" },
          ],
        },
        answers: { 204: { description: "Set" } },
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
