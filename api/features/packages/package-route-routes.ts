import type { Pool } from "pg";
import { v7 as uuidv7 } from "uuid";
import { routesConflict } from "../../../ingest/routing/find-route.js";
import { parseCreatePackageRoute } from "../../../ingest/routing/parse-package-route.js";
import {
  CREATE_PACKAGE_ROUTE_V1,
  type CreatePackageRouteV1,
  PACKAGE_ROUTE_V1,
  type PackageRouteV1,
} from "../../../schemas/contracts/package-routing.js";
import { Problem } from "../../../schemas/problem.js";
import { decodeRouteTemplate } from "../../../schemas/routing/url-template.js";
import type { Quotas } from "../../base/access/quotas.js";
import type { PackageRow } from "../../base/access/visible-packages.js";
import { listAllRoute } from "../../base/http/resource-lists.js";
import { createRoute, deleteRoute } from "../../base/http/resource-routes.js";
import type { Route } from "../../base/http/route.js";
import { type Postgres, query, readCount } from "../../base/postgres/query.js";
import { columnsOf, insertRow, selectList } from "../../base/postgres/record-rows.js";
import { type InPackage, inPackage } from "./in-package.js";

const SENT = {
  outgoingUrl: "https://github.com/acme/web/releases/download/{version}/{file}",
  templatePath: "/web/{version}/{file}",
};
const EXAMPLE = { id: "01a1fbad-cab4-710c-82a1-b3f3576e59e4", ...SENT };

interface RouteDeps {
  pg: Pool;
  quotas: Quotas;
}

export function packageRouteRoutes({ pg, quotas }: RouteDeps): Route[] {
  const resource = {
    pg,
    name: "route",
    plural: "routes",
    path: "/v1/packages/:package/routes",
    actions: { read: "routes.read", create: "routes.write", delete: "routes.write" },
    schema: PACKAGE_ROUTE_V1,
    example: EXAMPLE,
    ...inPackage("route", { requireType: requireFilePackage, read: readPackageRoute }),
    recordOf: (route) => route,
    targetOf: ({ id, templatePath }) => ({ kind: "route", id, name: templatePath }),
  } as const satisfies InPackage<PackageRouteV1>;
  return [
    listAllRoute(resource, { summary: "List the routes of a file package", list: listPackageRoutes }),
    createRoute(resource, {
      summary: "Add a route to a file package",
      description:
        "If several routes match a request, the more literal path wins, compared segment by segment. Two " +
        `routes that match exactly the same requests conflict. A package can have ${quotas.routes} routes.`,
      body: { schema: CREATE_PACKAGE_ROUTE_V1, example: SENT },
      parse: parseCreatePackageRoute,
      problems: ["route-conflicts"],
      quotas,
      count: countPackageRoutes,
      async insert(client, { owner: { id: packageId }, sent }) {
        requireNoConflict(await listPackageRoutes(client, packageId), sent);
        return insertPackageRoute(client, { packageId, route: sent });
      },
      changesOf: (sent, _, { id }) => ({ package: id, ...sent }),
      location: "none",
    }),
    deleteRoute(resource, {
      summary: "Remove a route from a file package",
      about: "Route removed",
      delete: (client, { id }) => query(client, "delete from package_routes where id = $1", [id]),
      changesOf: (_, { id }) => ({ package: id, outgoingUrl: null, templatePath: null }),
    }),
  ];
}

function requireFilePackage({ name, libraryType }: PackageRow): void {
  if (libraryType === "other") return;
  throw new Problem(
    "not-a-file-package",
    `Only file packages can have routes; ${name} is of type ${libraryType}.`,
  );
}

function requireNoConflict(routes: readonly PackageRouteV1[], sent: CreatePackageRouteV1): void {
  const other = conflicting(routes, sent.templatePath);
  if (other === undefined) return;
  throw new Problem(
    "route-conflicts",
    `${sent.templatePath} matches exactly the same requests as the route ${other.templatePath} (${other.id}).`,
  );
}

function conflicting(routes: readonly PackageRouteV1[], templatePath: string): PackageRouteV1 | undefined {
  const sent = decodeRouteTemplate(templatePath);
  if ("fault" in sent) return undefined;
  return routes.find((each) => {
    const other = decodeRouteTemplate(each.templatePath);
    return !("fault" in other) && routesConflict(other, sent);
  });
}

function countPackageRoutes(pg: Postgres, packageId: string): Promise<number> {
  return readCount(pg, "select count(*)::int from package_routes where package_id = $1", [packageId]);
}

async function listPackageRoutes(pg: Postgres, packageId: string): Promise<PackageRouteV1[]> {
  return query<PackageRouteV1>(pg, `${SELECT} where package_id = $1 order by id`, [packageId]);
}

/** The caller must check for conflicts, with the package locked. */
export async function insertPackageRoute(
  client: Postgres,
  { packageId, route }: { packageId: string; route: CreatePackageRouteV1 },
): Promise<string> {
  const id = uuidv7();
  const columns = columnsOf(CREATE_PACKAGE_ROUTE_V1, route);
  await insertRow(client, "package_routes", { id, package_id: packageId, ...columns });
  return id;
}

async function readPackageRoute(
  pg: Postgres,
  { packageId, id }: { packageId: string; id: string },
): Promise<PackageRouteV1 | undefined> {
  const text = `${SELECT} where package_id = $1 and id = $2`;
  const [found] = await query<PackageRouteV1>(pg, text, [packageId, id]);
  return found;
}

const SELECT = `select ${selectList(PACKAGE_ROUTE_V1, "t")} from package_routes t`;
