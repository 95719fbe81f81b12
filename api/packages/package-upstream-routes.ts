import { PACKAGE_UPSTREAM, type PackageUpstream } from "../../schemas/contracts/package.js";
import { withoutNulls } from "../../schemas/records/record.js";
import { publicHostOf } from "../../schemas/records/public-host.js";
import { packageOfOwnerFor } from "../access/authorise.js";
import { PACKAGE_PATH, PACKAGE_PROBLEMS, PACKAGE_QUERY, packageOnPath } from "./package-path.js";
import type { HostChecks } from "../hosts/host-checks.js";
import { route, type Route } from "../http/route.js";
import type { PackageRow } from "../access/visible-packages.js";
import type { Postgres } from "../postgres/query.js";

interface PackageUpstreamDeps {
  pg: Postgres;
  hosts?: HostChecks | undefined;
}

export const UPSTREAM_ANSWER = {
  description: "The addresses that are set",
  schema: PACKAGE_UPSTREAM,
  example: {
    backend_url: "https://registry.example.org/acme/web",
    public_url: "https://cr.example.org/acme/web",
  },
};

/** The addresses that a form must show before it changes a package: an update removes every field that it leaves out. */
export function packageUpstreamRoutes({ pg, hosts }: PackageUpstreamDeps): Route[] {
  return [
    route({
      method: "GET",
      path: "/v2/packages/:owner/:package/upstream",
      action: "packages.update",
      operation: {
        id: "getPackageUpstream",
        summary: "Read the addresses of a package that its record does not have",
        description:
          "`backendUrl` and `publicUrl` of a docker package, `repositoryURL` of a Python one, for those who may change it.",
        path: PACKAGE_PATH,
        query: PACKAGE_QUERY,
        answers: { 200: UPSTREAM_ANSWER },
        problems: PACKAGE_PROBLEMS,
      },
      async handle(call) {
        const row = await packageOfOwnerFor(pg, call.account, packageOnPath(call), call.action);
        call.ctx.body = await upstreamOf({ pg, hosts }, row);
      },
    }),
  ];
}

/** The addresses, and whether the host of images is verified where it has to be. */
export async function upstreamOf(
  { pg, hosts }: PackageUpstreamDeps,
  { ownerId, backendUrl, publicUrl, repositoryUrl }: PackageRow,
): Promise<PackageUpstream> {
  const host = publicHostOf(publicUrl);
  const described = host === undefined ? undefined : await hosts?.describe(pg, { ownerId, hosts: [host] });
  return withoutNulls<PackageUpstream>({
    backend_url: backendUrl,
    public_url: publicUrl,
    repository_url: repositoryUrl,
    ...described?.get(host ?? ""),
  });
}
