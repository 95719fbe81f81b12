import type { Pool } from "pg";
import { HOST_REACH, type HostReach } from "../../../schemas/contracts/package-routing.js";
import { packageOfOwnerFor } from "../../base/access/authorise.js";
import { publicHostOf } from "./hosts/public-hosts.js";
import { createHostReach } from "./hosts/reach-host.js";
import type { AddressGuard } from "../../base/outbound/guard-address.js";
import { type Route, route } from "../../base/http/route.js";
import {
  PACKAGE_PATH,
  PACKAGE_PROBLEMS,
  PACKAGE_QUERY,
  listPackageDomains,
  packageOnPath,
} from "./packages.js";

const HOSTS_MAX = 5;
const EXAMPLE: HostReach = { host: "files.acme.example", dns: true, tls: true };

/** How far the hosts of a package can be reached: what its first steps wait for. */
export function hostReachRoutes({ pg, guard }: { pg: Pool; guard: AddressGuard }): Route[] {
  const reach = createHostReach(guard);
  return [
    route({
      method: "GET",
      path: "/v2/packages/:owner/:package/hosts",
      action: "packages.update",
      operation: {
        id: "listPackageHosts",
        path: PACKAGE_PATH,
        query: PACKAGE_QUERY,
        summary: "Check whether a package's hosts can be reached",
        description:
          `Checks up to ${HOSTS_MAX} hosts: the package's domains, or the host of its \`publicUrl\`. The ` +
          "service checks at most once every ten seconds, from its own machine, and does not connect to " +
          "private networks.",
        answers: {
          200: {
            description: "The hosts and the results of the checks",
            schema: {
              title: "HostReachList",
              type: "object",
              required: ["hosts"],
              additionalProperties: false,
              properties: { hosts: { type: "array", items: HOST_REACH } },
            },
            example: { hosts: [EXAMPLE] },
          },
        },
        problems: [...PACKAGE_PROBLEMS, "unavailable"],
      },
      async handle(call) {
        const row = await packageOfOwnerFor(pg, call.account, packageOnPath(call), call.action);
        const domains = await listPackageDomains(pg, row.id);
        const names = [...domains.map(({ name }) => name), publicHostOf(row.publicUrl) ?? ""];
        const hosts = names.filter((name) => name !== "").slice(0, HOSTS_MAX);
        const asked = hosts.map((host) => reach({ ownerId: row.ownerId, host }));
        call.ctx.body = { hosts: await Promise.all(asked) };
      },
    }),
  ];
}
