import type { Pool } from "pg";
import {
  type ArtifactImportance,
  FUNNEL_IMPORTANCE,
  FUNNEL_IMPORTANCE_UPSERT,
  type FunnelImportance,
  parseFunnelImportance,
} from "../../../schemas/contracts/funnel.js";
import type { FieldFault } from "../../../schemas/problem.js";
import { invalidBody } from "../../../schemas/invalid-body.js";
import { type Account, access } from "../../base/access/access.js";
import { type Owner, ownerFor } from "../../base/access/authorise.js";
import { lockOwner } from "../../base/access/owners.js";
import type { PackageAction } from "../../base/access/resources.js";
import { listPackagesOfOwner } from "../../base/access/visible-packages.js";
import { MIB } from "../../base/http/body-limits.js";
import { answerRecord, entityTag, requireMatch } from "../../base/http/answers/headers.js";
import { readJson } from "../../base/http/middleware/read-json.js";
import { type ApiContext, type Call, type Route, route } from "../../base/http/route.js";
import { inTransaction } from "../../base/postgres/connection.js";
import { type Postgres, query } from "../../base/postgres/query.js";

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
        summary: "Get funnel weights of packages and pixels",
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
        summary: "Set funnel weights of packages and pixels",
        description:
          "A download counts 2, 5 or 8 points and a view 0.25, 0.5 or 1 point, for low, medium and high " +
          "importance. Identify packages and pixels by id or name. Packages and pixels that you " +
          "do not list become `medium`, except packages that you cannot change: they keep their importance. " +
          "The next funnel run applies the weights to past activity too.",
        body: { schema: FUNNEL_IMPORTANCE_UPSERT, example: SENT_EXAMPLE, limits: IMPORTANCE_LIMITS },
        answers: { 200: IMPORTANCE_ANSWER },
        problems: ["precondition-failed"],
      },
      async handle(call) {
        answer(call.ctx, await changeImportance(pg, call));
      },
    }),
  ];
}

/** For 10,000 packages and as many pixels. */
const IMPORTANCE_LIMITS = { bytesMax: MIB, valuesMax: 61_000 };

const IMPORTANCE_EXAMPLE: FunnelImportance = {
  packages: [{ id: "01a1fbad-ca48-70ed-9525-6dc0dcdf7c27", importance: "high" }],
  pixels: [{ id: "01a1fbad-cab4-710c-82a1-b3f3576e59e4", importance: "low" }],
};

const SENT_EXAMPLE: FunnelImportance = {
  packages: [{ id: "web", importance: "high" }],
  pixels: [{ id: "01a1fbad-cab4-710c-82a1-b3f3576e59e4", importance: "low" }],
};

const IMPORTANCE_ANSWER = {
  description: "All packages and pixels you can see, oldest first",
  schema: FUNNEL_IMPORTANCE,
  example: IMPORTANCE_EXAMPLE,
};

/** Of all pixels, and of the packages on which the caller may do `action`. */
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
    const changes = { ...(packages.length > 0 && { packages }), ...(pixels.length > 0 && { pixels }) };
    await record(client, { ownerId: owner.id, target, changes });
    return read("packages.read");
  });
}

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

interface KnownImportance {
  packages: NamedImportance[];
  pixels: NamedImportance[];
}

/** Puts ids where names were sent. An id comes before a name. Throws `invalid-body` naming every fault. */
export function resolveImportance(
  sent: FunnelImportance,
  known: KnownImportance,
  owner: string,
): FunnelImportance {
  const faults: FieldFault[] = [];
  const resolve = (of: "packages" | "pixels"): ArtifactImportance[] => {
    const namedBy = finderIn(known[of]);
    const resolved = new Set<string>();
    return sent[of].flatMap(({ id: idOrName, importance }, index) => {
      const fault = (message: string) => {
        faults.push({ path: `/${of}/${index}/id`, message });
        return [];
      };
      const [found, ...others] = namedBy(idOrName);
      if (found === undefined) return fault(`is not one of the ${of} of ${owner} that you can change`);
      if (others.length > 0) return fault(`is the name of several ${of} of ${owner}; use the id`);
      if (resolved.has(found.id)) return fault("is listed twice");
      resolved.add(found.id);
      return [{ id: found.id, importance }];
    });
  };
  const wanted = { packages: resolve("packages"), pixels: resolve("pixels") };
  if (faults.length > 0) throw invalidBody(faults);
  return wanted;
}

function finderIn(known: readonly NamedImportance[]): (idOrName: string) => NamedImportance[] {
  const byId = new Map(known.map((each) => [each.id, each]));
  const byName = new Map<string, NamedImportance[]>();
  for (const each of known) byName.set(each.name, [...(byName.get(each.name) ?? []), each]);
  return (idOrName) => {
    const found = byId.get(idOrName.toLowerCase());
    return found === undefined ? (byName.get(idOrName) ?? []) : [found];
  };
}

type Of = "packages" | "pixels";

interface NamedImportance extends ArtifactImportance {
  name: string;
}

/** In order of creation. */
async function listImportance(
  pg: Postgres,
  { ownerId, of }: { ownerId: string; of: Of },
): Promise<NamedImportance[]> {
  const text = `select id, name, importance from ${of} where owner_id = $1 order by id`;
  return query<NamedImportance>(pg, text, [ownerId]);
}

async function updateImportance(
  pg: Postgres,
  { of, changed }: { of: Of; changed: readonly ArtifactImportance[] },
): Promise<void> {
  const text = `
    update ${of} set importance = new.importance
    from unnest($1::uuid[], $2::text[]) as new (id, importance) where ${of}.id = new.id`;
  await query(pg, text, [changed.map(({ id }) => id), changed.map(({ importance }) => importance)]);
}
