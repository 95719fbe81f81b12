import type { Pool } from "pg";
import { v7 as uuidv7 } from "uuid";
import { routesConflict } from "../../../ingest/routing/find-route.js";
import { parseCreatePackageRoute } from "../../../ingest/routing/parse-package-route.js";
import { isUuid } from "../../../schemas/formats.js";
import {
  CREATE_PACKAGE_ROUTE_V1,
  type CreatePackageRouteV1,
  PACKAGE_ROUTE_V1,
  type PackageRouteV1,
} from "../../../schemas/contracts/package-routing.js";
import { Problem } from "../../../schemas/problem.js";
import { decodeRouteTemplate } from "../../../schemas/routing/url-template.js";
import { lockedPackageFor, packageFor } from "../../base/access/authorise.js";
import { answerRecord, entityTag, requireMatch } from "../../base/http/answers/headers.js";
import { LIST_QUERY, listAnswer, listPage } from "../../base/http/answers/paging.js";
import { readJson } from "../../base/http/middleware/read-json.js";
import {
  PACKAGE_PATH,
  PACKAGE_PROBLEMS,
  PACKAGE_QUERY,
  type PackageCall,
  packageTypeOf,
} from "./packages.js";
import { QUOTA_PROBLEMS, type Quotas, requireRoom } from "../../base/access/quotas.js";
import { type Route, route } from "../../base/http/route.js";
import { inTransaction } from "../../base/postgres/connection.js";
import type { PackageRow } from "../../base/access/visible-packages.js";
import { type Postgres, query } from "../../base/postgres/query.js";

const SENT = {
  outgoingUrl: "https://github.com/acme/web/releases/download/{version}/{file}",
  templatePath: "/web/{version}/{file}",
};
const EXAMPLE = { id: "01a1fbad-cab4-710c-82a1-b3f3576e59e4", ...SENT };
const LIST_PATH = "/v1/packages/:package/routes";
const ON_ROUTES = { path: PACKAGE_PATH, query: PACKAGE_QUERY } as const;
const PROBLEMS = [...PACKAGE_PROBLEMS, "not-a-file-package"] as const;

interface RouteDeps {
  pg: Pool;
  quotas: Quotas;
}

export function packageRouteRoutes({ pg, quotas }: RouteDeps): Route[] {
  return [
    route({
      method: "GET",
      path: LIST_PATH,
      action: "routes.read",
      operation: {
        id: "listPackageRoutes",
        ...ON_ROUTES,
        query: { ...PACKAGE_QUERY, ...LIST_QUERY },
        summary: "List the routes of a file package",
        answers: {
          200: listAnswer("The routes, oldest first", PACKAGE_ROUTE_V1, EXAMPLE),
        },
        problems: PROBLEMS,
      },
      async handle({ ctx, account, action, query, param }) {
        const type = packageTypeOf(query);
        const row = await packageFor(pg, account, param("package"), action, { type });
        requireFilePackage(row);
        ctx.body = listPage({ ctx, query }, await listPackageRoutes(pg, row.id), ({ id }) => id);
      },
    }),
    route({
      method: "POST",
      path: LIST_PATH,
      action: "routes.write",
      operation: {
        id: "createPackageRoute",
        ...ON_ROUTES,
        summary: "Add a route to a file package",
        description:
          "If several routes match a request, the more literal path wins, compared segment by segment. Two " +
          `routes that match exactly the same requests conflict. A package can have ${quotas.routes} routes.`,
        body: { schema: CREATE_PACKAGE_ROUTE_V1, example: SENT },
        answers: { 201: { description: "The route", schema: PACKAGE_ROUTE_V1, example: EXAMPLE } },
        problems: [...PROBLEMS, "route-conflicts", QUOTA_PROBLEMS.routes],
      },
      async handle(call) {
        const made = await createRoute({ pg, quotas }, call);
        call.ctx.status = 201;
        answerRecord(call.ctx, made);
      },
    }),
    route({
      method: "DELETE",
      path: `${LIST_PATH}/:route`,
      action: "routes.write",
      operation: {
        id: "deletePackageRoute",
        ...ON_ROUTES,
        summary: "Remove a route from a file package",
        answers: { 204: { description: "Route removed" } },
        problems: [...PROBLEMS, "precondition-failed"],
      },
      async handle(call) {
        await removeRoute(pg, call);
        call.ctx.status = 204;
      },
    }),
  ];
}

async function createRoute(
  { pg, quotas }: RouteDeps,
  { ctx, account, action, query, param, record }: PackageCall<"routes.write">,
): Promise<PackageRouteV1> {
  const type = packageTypeOf(query);
  const sent = await readJson(ctx, parseCreatePackageRoute);
  return inTransaction(pg, async (client) => {
    const row = await lockedPackageFor(client, account, param("package"), action, { type });
    requireFilePackage(row);
    const routes = await listPackageRoutes(client, row.id);
    requireRoom(quotas, "routes", { name: row.name, count: routes.length });
    requireNoConflict(routes, sent);
    const made = await insertPackageRoute(client, { packageId: row.id, route: sent });
    await record(client, {
      ownerId: row.ownerId,
      target: target(made),
      changes: { package: row.id, ...sent },
    });
    return made;
  });
}

async function removeRoute(
  pg: Pool,
  { ctx, account, action, query, param, record }: PackageCall<"routes.write">,
): Promise<void> {
  const type = packageTypeOf(query);
  await inTransaction(pg, async (client) => {
    const row = await lockedPackageFor(client, account, param("package"), action, { type });
    requireFilePackage(row);
    const id = param("route");
    const found = isUuid(id) ? await readPackageRoute(client, { packageId: row.id, id }) : undefined;
    if (found === undefined)
      throw new Problem("not-found", `The package ${row.name} has no route with the id ${id}.`);
    requireMatch(ctx, entityTag(found));
    await deletePackageRoute(client, found.id);
    const changes = { package: row.id, outgoingUrl: null, templatePath: null };
    await record(client, { ownerId: row.ownerId, target: target(found), changes });
  });
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

function target({ id, templatePath }: PackageRouteV1) {
  return { kind: "route", id, name: templatePath } as const;
}

async function listPackageRoutes(pg: Postgres, packageId: string): Promise<PackageRouteV1[]> {
  return query<PackageRouteV1>(pg, `${SELECT} where package_id = $1 order by id`, [packageId]);
}

/** The caller must check for conflicts, with the package locked. */
export async function insertPackageRoute(
  client: Postgres,
  { packageId, route }: { packageId: string; route: CreatePackageRouteV1 },
): Promise<PackageRouteV1> {
  const id = uuidv7();
  const text =
    "insert into package_routes (id, package_id, template_path, outgoing_url) values ($1, $2, $3, $4)";
  await query(client, text, [id, packageId, route.templatePath, route.outgoingUrl]);
  return { id, outgoingUrl: route.outgoingUrl, templatePath: route.templatePath };
}

async function readPackageRoute(
  pg: Postgres,
  { packageId, id }: { packageId: string; id: string },
): Promise<PackageRouteV1 | undefined> {
  const text = `${SELECT} where package_id = $1 and id = $2`;
  const [found] = await query<PackageRouteV1>(pg, text, [packageId, id]);
  return found;
}

async function deletePackageRoute(client: Postgres, id: string): Promise<void> {
  await query(client, "delete from package_routes where id = $1", [id]);
}

const SELECT = `
  select id, outgoing_url as "outgoingUrl", template_path as "templatePath" from package_routes`;
