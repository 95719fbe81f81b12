import type { Pool } from "pg";
import { type HostChecks, withVerification } from "./hosts/host-checks.js";
import { isUuid } from "../../../schemas/formats.js";
import {
  CREATE_PACKAGE_DOMAIN_V1,
  PACKAGE_DOMAIN_V1,
  type PackageDomainV1,
  parseCreatePackageDomain,
} from "../../../schemas/contracts/package-routing.js";
import { Problem } from "../../../schemas/problem.js";
import { lockedPackageFor, packageFor } from "../../base/access/authorise.js";
import { entityTag, requireMatch } from "../../base/http/answers/headers.js";
import { LIST_QUERY, listAnswer, listPage } from "../../base/http/answers/paging.js";
import { readJson } from "../../base/http/middleware/read-json.js";
import {
  PACKAGE_PATH,
  PACKAGE_PROBLEMS,
  PACKAGE_QUERY,
  deletePackageDomain,
  insertPackageDomain,
  listPackageDomains,
  type PackageCall,
  packageTypeOf,
  readPackageDomain,
} from "./packages.js";
import { QUOTA_PROBLEMS, type Quotas, requireRoom } from "../../base/access/quotas.js";
import { type Route, route } from "../../base/http/route.js";
import { inTransaction } from "../../base/postgres/connection.js";
import type { PackageRow } from "../../base/access/visible-packages.js";
import {
  type CollectHost,
  lockPublicHost,
  requireFreeHost,
  requireNoCollectionHost,
} from "./hosts/public-hosts.js";

const SENT = { name: "files.acme.example" };
const EXAMPLE = { id: "01a1fbad-cab4-710c-82a1-b3f3576e59e4", ...SENT };
const LIST_PATH = "/v1/packages/:package/domains";
const ON_DOMAINS = { path: PACKAGE_PATH, query: PACKAGE_QUERY } as const;
const PROBLEMS = [...PACKAGE_PROBLEMS, "not-a-file-package"] as const;

interface PackageDomainDeps {
  pg: Pool;
  quotas: Quotas;
  collectHost?: CollectHost;
  hosts?: HostChecks | undefined;
}

export function packageDomainRoutes({ pg, quotas, collectHost, hosts }: PackageDomainDeps): Route[] {
  return [
    route({
      method: "GET",
      path: LIST_PATH,
      action: "domains.read",
      operation: {
        id: "listPackageDomains",
        ...ON_DOMAINS,
        query: { ...PACKAGE_QUERY, ...LIST_QUERY },
        summary: "List the domains of a file or Python package",
        answers: {
          200: listAnswer("The domains, oldest first", PACKAGE_DOMAIN_V1, EXAMPLE),
        },
        problems: PROBLEMS,
      },
      async handle({ ctx, account, action, query, param }) {
        const type = packageTypeOf(query);
        const row = await packageFor(pg, account, param("package"), action, { type });
        requireDomains(row);
        const page = listPage({ ctx, query }, await listPackageDomains(pg, row.id), ({ id }) => id);
        ctx.body = await withVerification(hosts, pg, row.ownerId, page);
      },
    }),
    route({
      method: "POST",
      path: LIST_PATH,
      action: "domains.write",
      operation: {
        id: "createPackageDomain",
        ...ON_DOMAINS,
        summary: "Add a domain to a file or Python package",
        description:
          "A domain can serve only one package, across all owners. Hosts that receive pixels or npm " +
          "reports cannot be added. If the host is in the publicUrl of a Docker package, only the same " +
          "owner can add it, and it then stops serving the images. If another owner removed the host " +
          "within the last 30 days, only a user who administers both owners can add it. A package can " +
          `have ${quotas.domains} domains.`,
        body: { schema: CREATE_PACKAGE_DOMAIN_V1, example: SENT },
        answers: { 201: { description: "The domain", schema: PACKAGE_DOMAIN_V1, example: EXAMPLE } },
        problems: [...PROBLEMS, "domain-is-already-in-use", QUOTA_PROBLEMS.domains],
      },
      async handle(call) {
        const made = await createDomain({ pg, quotas, collectHost, hosts }, call);
        call.ctx.status = 201;
        const { ownerId, domain } = made;
        call.ctx.set("ETag", entityTag(domain));
        [call.ctx.body] = await withVerification(hosts, pg, ownerId, [domain]);
      },
    }),
    route({
      method: "DELETE",
      path: `${LIST_PATH}/:domain`,
      action: "domains.write",
      operation: {
        id: "deletePackageDomain",
        ...ON_DOMAINS,
        summary: "Remove a domain from a package",
        description: "The domain is reserved for its owner for 30 days. After that others can use it.",
        answers: { 204: { description: "Domain removed" } },
        problems: [...PROBLEMS, "precondition-failed"],
      },
      async handle(call) {
        await removeDomain(pg, call);
        call.ctx.status = 204;
      },
    }),
  ];
}

async function createDomain(
  { pg, quotas, collectHost, hosts }: PackageDomainDeps,
  { ctx, account, action, query, param, record }: PackageCall<"domains.write">,
): Promise<{ ownerId: string; domain: PackageDomainV1 }> {
  const type = packageTypeOf(query);
  const { name } = await readJson(ctx, parseCreatePackageDomain);
  return inTransaction(pg, async (client) => {
    await lockPublicHost(client, name);
    const row = await lockedPackageFor(client, account, param("package"), action, { type });
    requireDomains(row);
    const count = (await listPackageDomains(client, row.id)).length;
    requireRoom(quotas, "domains", { name: row.name, count });
    await requireFreeHost(client, { host: name, ownerId: row.ownerId, account });
    await requireNoCollectionHost(client, { host: name, collectHost, isVerified: hosts !== undefined });
    const made = await insertPackageDomain(client, { packageId: row.id, name });
    await record(client, {
      ownerId: row.ownerId,
      target: domainTarget(made),
      changes: { package: row.id, name },
    });
    return { ownerId: row.ownerId, domain: made };
  });
}

async function removeDomain(
  pg: Pool,
  { ctx, account, action, query, param, record }: PackageCall<"domains.write">,
): Promise<void> {
  const type = packageTypeOf(query);
  await inTransaction(pg, async (client) => {
    const row = await lockedPackageFor(client, account, param("package"), action, { type });
    requireDomains(row);
    const id = param("domain");
    const found = isUuid(id) ? await readPackageDomain(client, { packageId: row.id, id }) : undefined;
    if (found === undefined)
      throw new Problem("not-found", `The package ${row.name} has no domain with the id ${id}.`);
    requireMatch(ctx, entityTag(found));
    await deletePackageDomain(client, found.id);
    const changes = { package: row.id, name: null };
    await record(client, { ownerId: row.ownerId, target: domainTarget(found), changes });
  });
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
