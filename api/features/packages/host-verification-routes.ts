import type { Pool } from "pg";
import { PACKAGE_DOMAIN_V1, type PackageDomainV1 } from "../../../schemas/contracts/package-routing.js";
import { isUuid } from "../../../schemas/formats.js";
import { Problem } from "../../../schemas/problem.js";
import { publicHostOf } from "./hosts/public-hosts.js";
import { packageFor, packageOfOwnerFor } from "../../base/access/authorise.js";
import {
  PACKAGE_PATH,
  PACKAGE_PROBLEMS,
  PACKAGE_QUERY,
  packageOnPath,
  packageTypeOf,
  readPackageDomain,
} from "./packages.js";
import { type HostChecks, insertVerifiedHost, withVerification } from "./hosts/host-checks.js";
import { type Call, type Route, route } from "../../base/http/route.js";
import type { Changed } from "../../base/access/audit-entries.js";
import { inTransaction } from "../../base/postgres/connection.js";
import type { PackageRow } from "../../base/access/visible-packages.js";
import { domainTarget, requireDomains } from "./package-domain-routes.js";
import { UPSTREAM_ANSWER, upstreamOf } from "./package-record-routes.js";

interface HostVerificationDeps {
  pg: Pool;
  hosts?: HostChecks | undefined;
}

const DESCRIPTION =
  "If the operator has turned on `DOMAIN_VERIFICATION`, the service serves a host only after you have " +
  "added the TXT record in `verification` to its DNS. The service also checks the DNS every ten minutes. " +
  "A verified host stays verified.";
const PROBLEMS = ["rate-limited", "unavailable"] as const;

/** Looking for the record that shows whose a host is. */
export function hostVerificationRoutes({ pg, hosts }: HostVerificationDeps): Route[] {
  return [
    route({
      method: "POST",
      path: "/v1/packages/:package/domains/:domain/verify",
      action: "domains.write",
      operation: {
        id: "verifyPackageDomain",
        path: PACKAGE_PATH,
        query: PACKAGE_QUERY,
        summary: "Verify a domain",
        description: DESCRIPTION,
        answers: { 200: { description: "The domain", schema: PACKAGE_DOMAIN_V1, example: EXAMPLE } },
        problems: [...PACKAGE_PROBLEMS, ...PROBLEMS, "not-a-file-package"],
      },
      async handle(call) {
        const { ctx, account, action, query, param } = call;
        const row = await packageFor(pg, account, param("package"), action, {
          type: packageTypeOf(query),
        });
        requireDomains(row);
        const domain = await domainOf(pg, row, param("domain"));
        const { ownerId } = row;
        await look({ pg, hosts }, call, { ownerId, host: domain.name, target: domainTarget(domain) });
        [ctx.body] = await withVerification(hosts, pg, row.ownerId, [domain]);
      },
    }),
    route({
      method: "POST",
      path: "/v2/packages/:owner/:package/upstream/verify",
      action: "packages.update",
      operation: {
        id: "verifyPackageUpstream",
        path: PACKAGE_PATH,
        query: PACKAGE_QUERY,
        summary: "Verify the host of a Docker package's publicUrl",
        description: DESCRIPTION,
        answers: { 200: UPSTREAM_ANSWER },
        problems: [...PACKAGE_PROBLEMS, ...PROBLEMS],
      },
      async handle(call) {
        const row = await packageOfOwnerFor(pg, call.account, packageOnPath(call), call.action);
        const host = publicHostOf(row.publicUrl);
        const target = { kind: "package", id: row.id, name: row.name } as const;
        await look({ pg, hosts }, call, { ownerId: row.ownerId, host, target });
        call.ctx.body = await upstreamOf({ pg, hosts }, row);
      },
    }),
  ];
}

const EXAMPLE: PackageDomainV1 = {
  id: "01a1fbad-cab4-710c-82a1-b3f3576e59e4",
  name: "files.acme.example",
  verified: false,
  verification: {
    type: "TXT",
    name: "_maintainer-toolchain.files.acme.example",
    value: "5f0c2f6e1b1e4f539a3f2f3c8a1de0aa5f0c2f6e1b1e4f539a3f2f3c8a1de0aa",
  },
};

async function domainOf(pg: Pool, { id: packageId, name }: PackageRow, id: string): Promise<PackageDomainV1> {
  const found = isUuid(id) ? await readPackageDomain(pg, { packageId, id }) : undefined;
  if (found === undefined)
    throw new Problem("not-found", `The package ${name} has no domain with the id ${id}.`);
  return found;
}

interface Looking {
  ownerId: string;
  /** Undefined for a package without a host. */
  host: string | undefined;
  target: Changed["target"];
}

/** Looks where hosts have to be verified, and keeps that a record was found. */
async function look(
  { pg, hosts }: HostVerificationDeps,
  { record }: Pick<Call, "record">,
  { ownerId, host, target }: Looking,
): Promise<void> {
  const isFound = host !== undefined && hosts !== undefined && (await hosts.look(pg, { ownerId, host }));
  await inTransaction(pg, async (client) => {
    if (isFound && host !== undefined) await insertVerifiedHost(client, { host, ownerId });
    await record(client, { ownerId, target, changes: isFound ? { verified: host } : {} });
  });
}
