import type { Pool } from "pg";
import {
  FUNNEL_IMPORTANCE,
  FUNNEL_IMPORTANCE_UPSERT,
  parseFunnelImportance,
  type ArtifactImportance,
  type FunnelImportance,
} from "../../schemas/contracts/funnel.js";
import { access, type Account } from "../access/access.js";
import { entityTag, requireMatch, answerRecord } from "../http/answers/headers.js";
import { ownerFor, type Owner } from "../access/authorise.js";
import { readJson } from "../http/middleware/read-json.js";
import type { PackageAction } from "../access/resources.js";
import { route, type ApiContext, type Call, type Route } from "../http/route.js";
import { lockOwner } from "../access/owners.js";
import { inTransaction } from "../postgres/connection.js";
import { listImportance, updateImportance, resolveImportance, type KnownImportance } from "./importance.js";
import { listPackagesOfOwner } from "../access/visible-packages.js";
import type { Postgres } from "../postgres/query.js";

const PATH = "/v2/:owner/funnel/importance";

export function funnelImportanceRoutes({ pg }: { pg: Pool }): Route[] {
  return [
    route({
      method: "GET",
      path: PATH,
      action: "packages.list",
      operation: {
        id: "readFunnelImportance",
        tag: "Companies",
        summary: "Read how much each package and pixel matters in the funnel",
        answers: { 200: IMPORTANCE_ANSWER },
      },
      async handle({ ctx, account, action, param }) {
        const owner = await ownerFor(pg, account, param("owner"), action);
        answer(ctx, await importanceFor(pg, { account, owner, action: "packages.read" }));
      },
    }),
    route({
      method: "PUT",
      path: PATH,
      action: "funnel.manage",
      operation: {
        id: "updateFunnelImportance",
        summary: "Say how much each package and pixel matters in the funnel",
        description:
          "A download is worth 2, 5 or 8 points and a view 0.25, 0.5 or 1, for low, medium and high importance. " +
          "Each is named by its id or its name. Unnamed ones become `medium`; packages that the caller may not change " +
          "stay as they are. The next run of the funnel applies it to past activity as well.",
        body: { schema: FUNNEL_IMPORTANCE_UPSERT, example: SENT_EXAMPLE },
        answers: { 200: IMPORTANCE_ANSWER },
        problems: ["precondition-failed"],
      },
      async handle(call) {
        answer(call.ctx, await changeImportance(pg, call));
      },
    }),
  ];
}

const IMPORTANCE_EXAMPLE: FunnelImportance = {
  packages: [{ id: "01a1fbad-ca48-70ed-9525-6dc0dcdf7c27", importance: "high" }],
  pixels: [{ id: "01a1fbad-cab4-710c-82a1-b3f3576e59e4", importance: "low" }],
};

const SENT_EXAMPLE: FunnelImportance = {
  packages: [{ id: "web", importance: "high" }],
  pixels: [{ id: "01a1fbad-cab4-710c-82a1-b3f3576e59e4", importance: "low" }],
};

const IMPORTANCE_ANSWER = {
  description: "Every package and pixel that the caller can see, in the order in which they were made",
  schema: FUNNEL_IMPORTANCE,
  example: IMPORTANCE_EXAMPLE,
};

/** The importance of all pixels, and of the packages on which the caller may do `action`. */
async function importanceFor(
  pg: Postgres,
  { account, owner, action }: { account: Account; owner: Owner; action: PackageAction },
): Promise<KnownImportance> {
  const rows = await listPackagesOfOwner(pg, { ownerId: owner.id, accountId: account.id });
  const seen = new Set(rows.filter((row) => access(row, action, row) === "allowed").map(({ id }) => id));
  const packages = await listImportance(pg, { ownerId: owner.id, of: "packages" });
  const pixels = await listImportance(pg, { ownerId: owner.id, of: "pixels" });
  return { packages: packages.filter(({ id }) => seen.has(id)), pixels };
}

async function changeImportance(
  pg: Pool,
  { ctx, account, action, param, record }: Call<"funnel.manage">,
): Promise<KnownImportance> {
  const sent = await readJson(ctx, parseFunnelImportance);
  return inTransaction(pg, async (client) => {
    await lockOwner(client, param("owner"));
    const owner = await ownerFor(client, account, param("owner"), action);
    const read = (action: PackageAction) => importanceFor(client, { account, owner, action });
    requireMatch(ctx, entityTag(withoutNames(await read("packages.read"))));
    const changeable = await read("packages.update");
    const wanted = resolveImportance(sent, changeable, owner.name);
    const packages = changed(changeable.packages, wanted.packages);
    const pixels = changed(changeable.pixels, wanted.pixels);
    await updateImportance(client, { of: "packages", changed: packages });
    await updateImportance(client, { of: "pixels", changed: pixels });
    const target = { kind: owner.kind, id: owner.id, name: owner.name };
    await record(client, { ownerId: owner.id, target, changes: { packages, pixels } });
    return read("packages.read");
  });
}

/** The entries whose importance changes. */
function changed(
  known: readonly ArtifactImportance[],
  wanted: readonly ArtifactImportance[],
): ArtifactImportance[] {
  const named = new Map(wanted.map(({ id, importance }) => [id, importance]));
  return known
    .map(({ id, importance }) => ({
      id,
      before: importance,
      importance: named.get(id) ?? ("medium" as const),
    }))
    .filter(({ before, importance }) => before !== importance)
    .map(({ id, importance }) => ({ id, importance }));
}

function answer(ctx: ApiContext, known: KnownImportance): void {
  answerRecord(ctx, withoutNames(known));
}

function withoutNames({ packages, pixels }: KnownImportance): FunnelImportance {
  const bare = ({ id, importance }: ArtifactImportance) => ({ id, importance });
  return { packages: packages.map(bare), pixels: pixels.map(bare) };
}
