import type { Pool } from "pg";
import {
  PACKAGE_UPSTREAM,
  type PackageUpstream,
  parsePackageUpdate,
} from "../../../schemas/contracts/package.js";
import {
  type CollectHost,
  lockPublicHost,
  publicHostOf,
  requireFreeHost,
  requireNoCollectHost,
} from "./hosts/public-hosts.js";
import { lockedPackageFor, packageFor, packageOfOwnerFor } from "../../base/access/authorise.js";
import { changedFields } from "../../base/access/audit-entries.js";
import { entityTag, requireMatch } from "../../base/http/answers/headers.js";
import { readJson } from "../../base/http/middleware/read-json.js";
import {
  PACKAGE_PATH,
  PACKAGE_PROBLEMS,
  PACKAGE_QUERY,
  deleteArtifact,
  packageOnPath,
  packageRecord,
  packageState,
  type PackageCall,
  packageTypeOf,
  updatePackage,
} from "./packages.js";
import { type Call, type Route, route } from "../../base/http/route.js";
import { inTransaction } from "../../base/postgres/connection.js";
import type { PackageRow } from "../../base/access/visible-packages.js";
import { lockNpmName, requireFreeNpmName } from "./npm-names.js";
import { PACKAGE_ANSWER, PACKAGE_BODY } from "./package-routes.js";
import { withoutNulls } from "../../../schemas/formats.js";
import type { HostChecks } from "./hosts/host-checks.js";
import type { Postgres } from "../../base/postgres/query.js";

const PATH = "/v1/packages/:package";
const ON_PACKAGE = { path: PACKAGE_PATH, query: PACKAGE_QUERY } as const;

interface PackageRecordDeps {
  pg: Pool;
  collectHost?: CollectHost;
}

export function packageRecordRoutes({ pg, collectHost }: PackageRecordDeps): Route[] {
  return [
    route({
      method: "GET",
      path: PATH,
      action: "packages.read",
      operation: {
        id: "getPackage",
        ...ON_PACKAGE,
        summary: "Get a package",
        answers: { 200: PACKAGE_ANSWER },
        problems: PACKAGE_PROBLEMS,
      },
      async handle({ ctx, account, action, query, param }) {
        const type = packageTypeOf(query);
        answer(ctx, await packageFor(pg, account, param("package"), action, { type }));
      },
    }),
    route({
      method: "PUT",
      path: PATH,
      action: "packages.update",
      operation: {
        id: "updatePackage",
        ...ON_PACKAGE,
        summary: "Update a package",
        description:
          "The type cannot be changed and can be omitted. Other optional fields that are omitted are removed. A " +
          "Docker package's publicUrl is rejected if its host belongs to another owner.",
        body: PACKAGE_BODY,
        answers: { 200: PACKAGE_ANSWER },
        problems: [
          ...PACKAGE_PROBLEMS,
          "already-exists",
          "domain-is-already-in-use",
          "library-type-is-immutable",
          "precondition-failed",
        ],
      },
      async handle(call) {
        answer(call.ctx, await changePackage({ pg, collectHost }, call));
      },
    }),
    route({
      method: "DELETE",
      path: PATH,
      action: "packages.delete",
      operation: {
        id: "deletePackage",
        ...ON_PACKAGE,
        summary: "Delete a package",
        description:
          "Also deletes its routes, domains and permissions. Its events disappear from exports " +
          "immediately and are erased soon afterwards. Its pixels are kept, but no longer belong to a " +
          "package.",
        answers: { 204: { description: "Package deleted" } },
        problems: [...PACKAGE_PROBLEMS, "precondition-failed"],
      },
      async handle({ ctx, account, action, query, param, record }) {
        const type = packageTypeOf(query);
        await inTransaction(pg, async (client) => {
          const row = await lockedPackageFor(client, account, param("package"), action, { type });
          requireMatch(ctx, entityTag(packageState(row)));
          await deleteArtifact(client, "packages", row.id);
          await record(client, { ownerId: row.ownerId, target: target(row) });
        });
        ctx.status = 204;
      },
    }),
  ];
}

async function changePackage(
  { pg, collectHost }: PackageRecordDeps,
  { ctx, account, action, query, param, record }: PackageCall<"packages.update">,
): Promise<PackageRow> {
  const type = packageTypeOf(query);
  // The allowed fields depend on the type of the package.
  const body = await readJson(ctx, (sent) => sent);
  const { publicUrl, name } = (body ?? {}) as { publicUrl?: unknown; name?: unknown };
  const host = publicHostOf(publicUrl);
  return inTransaction(pg, async (client) => {
    await lockPublicHost(client, host);
    await lockNpmName(client, typeof name === "string" && !name.includes("\0") ? name : undefined);
    const before = await lockedPackageFor(client, account, param("package"), action, { type });
    requireMatch(ctx, entityTag(packageState(before)));
    const sent = parsePackageUpdate(body, before.libraryType);
    requireNoCollectHost(host, collectHost);
    await requireFreeHost(client, { host, ownerId: before.ownerId, account });
    if (before.libraryType === "npm" && sent.name !== before.name)
      await requireFreeNpmName(client, { name: sent.name, ownerId: before.ownerId });
    await updatePackage(client, { id: before.id, package: sent });
    const after = await packageFor(client, account, before.id, "packages.read");
    const changes = changedFields(packageState(before), packageState(after));
    await record(client, { ownerId: after.ownerId, target: target(after), changes });
    return after;
  });
}

function answer(ctx: Call["ctx"], row: PackageRow): void {
  ctx.set("ETag", entityTag(packageState(row)));
  ctx.body = packageRecord(row);
}

function target({ id, name }: PackageRow) {
  return { kind: "package", id, name } as const;
}

interface PackageUpstreamDeps {
  pg: Postgres;
  hosts?: HostChecks | undefined;
}

export const UPSTREAM_ANSWER = {
  description: "The package's upstream URLs",
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
        summary: "Get a package's additional URLs",
        description:
          "`backendUrl` and `publicUrl` of a Docker package, `repositoryURL` of a Python package. " +
          "Available to users who can change the package.",
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
