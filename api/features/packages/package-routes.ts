import type { Pool } from "pg";
import { PACKAGE_UPSERT, PACKAGE_V1, parsePackageUpsert } from "../../../schemas/contracts/package.js";
import {
  type CollectHost,
  lockPublicHost,
  publicHostOf,
  requireFreeHost,
  requireNoCollectHost,
} from "./hosts/public-hosts.js";
import { type Owner, ownerFor, packageFor } from "../../base/access/authorise.js";
import { MIB } from "../../base/http/body-limits.js";
import { entityTag, putLocation } from "../../base/http/answers/headers.js";
import { listAnswer } from "../../base/http/answers/paging.js";
import { readJson } from "../../base/http/middleware/read-json.js";
import { type Call, type Operation, type Route, route } from "../../base/http/route.js";
import { QUOTA_PROBLEMS, type Quotas, requireRoom } from "../../base/access/quotas.js";
import { inTransaction } from "../../base/postgres/connection.js";
import { lockOwner } from "../../base/access/owners.js";
import { countPackages, insertPackage, packageRecord, packageState } from "./packages.js";
import { listPackagesOfAccount, listPackagesOfOwner } from "../../base/access/visible-packages.js";
import { PACKAGE_LIST_QUERY, openPackageLists } from "./package-lists.js";
import { lockNpmName, requireFreeNpmName } from "./npm-names.js";
import type { Postgres } from "../../base/postgres/query.js";

const SENT = {
  name: "acme/web",
  shortDescription: "The web image",
  libraryType: "docker",
  backendUrl: "https://registry.acme.example/acme/web",
};
export const PACKAGE_EXAMPLE = {
  uuid: "01a1fbad-ca48-70ed-9525-6dc0dcdf7c27",
  owner: "acme",
  name: "acme/web",
  shortDescription: "The web image",
  createdAt: "2026-08-04T13:58:26.021037Z",
  libraryType: "docker",
};

export const PACKAGE_BODY = { schema: PACKAGE_UPSERT, example: SENT, limits: { bytesMax: MIB } };
export const PACKAGE_ANSWER = { description: "The package", schema: PACKAGE_V1, example: PACKAGE_EXAMPLE };

const LIST = {
  query: PACKAGE_LIST_QUERY,
  answers: {
    200: listAnswer(
      "Packages sorted by owner and name, without packages you are blocked from",
      PACKAGE_V1,
      PACKAGE_EXAMPLE,
    ),
  },
};
const CREATION: Pick<Operation, "tag" | "description" | "body" | "answers" | "problems"> = {
  description:
    "The host of a Docker package's publicUrl is reserved for the owner while one of the owner's " +
    "packages uses it, and for 30 days afterwards. It can serve any number of the owner's images. An npm " +
    "name belongs to the first owner with an npm package of that name.",
  body: PACKAGE_BODY,
  answers: { 201: PACKAGE_ANSWER },
  problems: ["already-exists", "domain-is-already-in-use", QUOTA_PROBLEMS.packages],
};

interface PackageDeps {
  pg: Pool;
  quotas: Quotas;
  collectHost?: CollectHost;
}

export function packageRoutes({ pg, quotas, collectHost }: PackageDeps): Route[] {
  const answerPackages = openPackageLists(pg);
  return [
    route({
      method: "GET",
      path: "/v1/packages",
      action: "packages.list-own",
      operation: {
        id: "listPackages",
        summary: "List packages you have access to",
        description:
          "Includes your own packages, your organizations' packages, and packages you have a permission on.",
        ...LIST,
      },
      async handle(call) {
        const { id } = call.account;
        await answerPackages(call, {
          key: id,
          list: () => listPackagesOfAccount(pg, id),
        });
      },
    }),
    route({
      method: "POST",
      path: "/v1/packages",
      action: "packages.create",
      operation: { id: "createPackage", summary: "Create a package in your account", ...CREATION },
      async handle(call) {
        const { username } = call.account;
        await createPackage({ pg, quotas, collectHost }, call, {
          name: username,
          ownerOf: (client) => ownerFor(client, call.account, username, call.action),
        });
      },
    }),
    route({
      method: "GET",
      path: "/v1/organizations/:organization/packages",
      action: "packages.list",
      operation: {
        id: "listOrganizationPackages",
        summary: "List packages of an organization",
        ...LIST,
      },
      async handle(call) {
        const { account, action, param } = call;
        const owner = await ownerFor(pg, account, param("organization"), action, { kind: "organization" });
        await answerPackages(call, {
          key: `${account.id} ${owner.id}`,
          list: () => listPackagesOfOwner(pg, { accountId: account.id, ownerId: owner.id }),
        });
      },
    }),
    route({
      method: "POST",
      path: "/v1/organizations/:organization/packages",
      action: "packages.create",
      operation: {
        id: "createOrganizationPackage",
        summary: "Create a package in an organization",
        ...CREATION,
      },
      async handle(call) {
        const name = call.param("organization");
        await createPackage({ pg, quotas, collectHost }, call, {
          name,
          ownerOf: (client) => ownerFor(client, call.account, name, call.action, { kind: "organization" }),
        });
      },
    }),
  ];
}

interface Creation {
  name: string;
  ownerOf: (client: Postgres) => Promise<Owner>;
}

async function createPackage(
  { pg, quotas, collectHost }: PackageDeps,
  { ctx, account, record }: Call<"packages.create">,
  { name, ownerOf }: Creation,
): Promise<void> {
  const sent = await readJson(ctx, parsePackageUpsert);
  const host = publicHostOf(sent.publicUrl);
  const npmName = sent.libraryType === "npm" ? sent.name : undefined;
  const made = await inTransaction(pg, async (client) => {
    await lockPublicHost(client, host);
    await lockNpmName(client, npmName);
    await lockOwner(client, name);
    const { id: ownerId, name: owner } = await ownerOf(client);
    requireRoom(quotas, "packages", { name: owner, count: await countPackages(client, ownerId) });
    requireNoCollectHost(host, collectHost);
    await requireFreeHost(client, { host, ownerId, account });
    if (npmName !== undefined) await requireFreeNpmName(client, { name: npmName, ownerId });
    const id = await insertPackage(client, { ownerId, package: sent });
    await record(client, { ownerId, target: { kind: "package", id, name: sent.name }, changes: sent });
    return packageFor(client, account, id, "packages.read");
  });
  ctx.status = 201;
  putLocation(ctx, `/v1/packages/${made.id}`);
  ctx.set("ETag", entityTag(packageState(made)));
  ctx.body = packageRecord(made);
}
