import { PACKAGE_UPSTREAM, type PackageUpstream } from "../../../schemas/contracts/package.js";
import { withoutNulls } from "../../../schemas/records/record.js";
import { packageOfOwnerFor } from "../../authorise/authorise.js";
import { route, type Route } from "../../route.js";
import type { Postgres } from "../../stores/query.js";

/** What a form needs to show before a package is changed. An update removes every field that it leaves out. */
export function packageUpstreamRoutes({ pg }: { pg: Postgres }): Route[] {
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
        path: {
          package: { schema: { type: "string", format: "uuid" }, description: "The package's uuid" },
        },
        answers: {
          200: {
            description: "The addresses that are set",
            schema: PACKAGE_UPSTREAM,
            example: {
              backend_url: "https://registry.example.org/acme/web",
              public_url: "https://cr.example.org/acme/web",
            },
          },
        },
      },
      async handle({ ctx, account, action, param }) {
        const named = { owner: param("owner"), idOrName: param("package") };
        const { backendUrl, publicUrl, repositoryUrl } = await packageOfOwnerFor(pg, account, named, action);
        ctx.body = withoutNulls<PackageUpstream>({
          backend_url: backendUrl,
          public_url: publicUrl,
          repository_url: repositoryUrl,
        });
      },
    }),
  ];
}
