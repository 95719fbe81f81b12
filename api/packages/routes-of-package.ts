import { v7 as uuidv7 } from "uuid";
import type { CreatePackageRouteV1, PackageRouteV1 } from "../../schemas/contracts/package-route.js";
import { query, type Postgres } from "../postgres/query.js";

/** In order of creation. */
export async function listPackageRoutes(pg: Postgres, packageId: string): Promise<PackageRouteV1[]> {
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

export async function readPackageRoute(
  pg: Postgres,
  { packageId, id }: { packageId: string; id: string },
): Promise<PackageRouteV1 | undefined> {
  const text = `${SELECT} where package_id = $1 and id = $2`;
  const [found] = await query<PackageRouteV1>(pg, text, [packageId, id]);
  return found;
}

export async function deletePackageRoute(client: Postgres, id: string): Promise<void> {
  await query(client, "delete from package_routes where id = $1", [id]);
}

const SELECT = `
  select id, outgoing_url as "outgoingUrl", template_path as "templatePath" from package_routes`;
