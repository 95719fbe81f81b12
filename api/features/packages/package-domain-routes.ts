import type { Pool } from "pg";
import {
  CREATE_PACKAGE_DOMAIN_V1,
  PACKAGE_DOMAIN_V1,
  type PackageDomainV1,
  parseCreatePackageDomain,
} from "../../../schemas/contracts/package-routing.js";
import { Problem } from "../../../schemas/problem.js";
import type { Quotas } from "../../base/access/quotas.js";
import type { PackageRow } from "../../base/access/visible-packages.js";
import { listAllRoute } from "../../base/http/resource-lists.js";
import { createRoute, deleteRoute } from "../../base/http/resource-routes.js";
import type { Route } from "../../base/http/route.js";
import { type HostChecks, withVerification } from "./hosts/host-checks.js";
import {
  type CollectHost,
  lockPublicHost,
  requireFreeHost,
  requireNoCollectionHost,
} from "./hosts/public-hosts.js";
import { type InPackage, inPackage } from "./in-package.js";
import {
  countPackageDomains,
  deletePackageDomain,
  insertPackageDomain,
  listPackageDomains,
  readPackageDomain,
} from "./packages.js";

const SENT = { name: "files.acme.example" };
const EXAMPLE = { id: "01a1fbad-cab4-710c-82a1-b3f3576e59e4", ...SENT };

interface PackageDomainDeps {
  pg: Pool;
  quotas: Quotas;
  collectHost?: CollectHost;
  hosts?: HostChecks | undefined;
}

export function packageDomainRoutes({ pg, quotas, collectHost, hosts }: PackageDomainDeps): Route[] {
  const resource = {
    pg,
    name: "domain",
    plural: "domains",
    path: "/v1/packages/:package/domains",
    actions: { read: "domains.read", create: "domains.write", delete: "domains.write" },
    schema: PACKAGE_DOMAIN_V1,
    example: EXAMPLE,
    ...inPackage("domain", { requireType: requireDomains, read: readPackageDomain }),
    recordOf: (domain) => domain,
    show: ({ ownerId }, domains) => withVerification(hosts, pg, ownerId, domains),
    targetOf: domainTarget,
  } as const satisfies InPackage<PackageDomainV1>;
  return [
    listAllRoute(resource, {
      summary: "List the domains of a file or Python package",
      list: listPackageDomains,
    }),
    createRoute(resource, {
      summary: "Add a domain to a file or Python package",
      description:
        "A domain can serve only one package, across all owners. Hosts that receive pixels or npm " +
        "reports cannot be added. If the host is in the publicUrl of a Docker package, only the same " +
        "owner can add it, and it then stops serving the images. If another owner removed the host " +
        "within the last 30 days, only a user who administers both owners can add it. A package can " +
        `have ${quotas.domains} domains.`,
      body: { schema: CREATE_PACKAGE_DOMAIN_V1, example: SENT },
      parse: parseCreatePackageDomain,
      problems: ["domain-is-already-in-use"],
      quotas,
      count: countPackageDomains,
      lock: (client, { name }) => lockPublicHost(client, name),
      async insert(client, { call: { account }, owner: { id: packageId, ownerId }, sent: { name } }) {
        await requireFreeHost(client, { host: name, ownerId, account });
        await requireNoCollectionHost(client, { host: name, collectHost, isVerified: hosts !== undefined });
        return (await insertPackageDomain(client, { packageId, name })).id;
      },
      changesOf: ({ name }, _, { id }) => ({ package: id, name }),
      location: "none",
    }),
    deleteRoute(resource, {
      summary: "Remove a domain from a package",
      description: "The domain is reserved for its owner for 30 days. After that others can use it.",
      about: "Domain removed",
      delete: (client, { id }) => deletePackageDomain(client, id),
      changesOf: (_, { id }) => ({ package: id, name: null }),
    }),
  ];
}

export function requireDomains({ name, libraryType }: PackageRow): void {
  if (libraryType === "other" || libraryType === "pypi") return;
  throw new Problem(
    "not-a-file-package",
    `Only file and Python packages can have domains; ${name} is of type ${libraryType}.`,
  );
}

export function domainTarget({ id, name }: PackageDomainV1) {
  return { kind: "domain", id, name } as const;
}
