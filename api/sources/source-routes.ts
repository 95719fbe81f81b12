import type { Pool } from "pg";
import {
  SOURCE,
  SOURCE_CREATE,
  SOURCE_UPDATE,
  type SourceKind,
  type SourceRecord,
  parseSourceCreate,
  parseSourceUpdate,
} from "../../schemas/contracts/source.js";
import { dateAt } from "../../schemas/date-range.js";
import { Problem } from "../../schemas/problem.js";
import { invalidBody } from "../../schemas/validate.js";
import { changedFields } from "../access/audit-entries.js";
import { ownerFor } from "../access/authorise.js";
import { ownedPackageId } from "../access/owned-package.js";
import { lockOwner } from "../access/owners.js";
import { DEFAULT_QUOTAS, QUOTA_PROBLEMS, type Quotas, requireRoom } from "../access/quotas.js";
import type { OwnerAction } from "../access/resources.js";
import { answerRecord, entityTag, putLocation, requireMatch } from "../http/answers/headers.js";
import { PAGE_QUERY, pageAnswer, pageBody, parsePage } from "../http/answers/paging.js";
import { readJson } from "../http/middleware/read-json.js";
import { type Call, type Route, route } from "../http/route.js";
import { PACKAGE_PROBLEMS } from "../packages/packages.js";
import { inTransaction } from "../postgres/connection.js";
import { type Postgres, violates } from "../postgres/query.js";
import { type RegistryAccess, UnknownName, readRegistry } from "./read-registry.js";
import { REGISTRIES } from "./registries/registries.js";
import {
  askForRun,
  countSources,
  deleteSource,
  insertSource,
  listSources,
  readSource,
  updateSource,
} from "./sources.js";

interface SourceDeps {
  pg: Pool;
  access: RegistryAccess;
  quotas?: Quotas;
}

const SENT = { kind: "npm", name: "left-pad", package: "left-pad" } as const;
const EXAMPLE = {
  id: "01a1fbad-cab4-710c-82a1-b3f3576e59e4",
  owner: "acme",
  kind: "npm",
  name: "left-pad",
  package_id: "01a1fbad-ca48-70ed-9525-6dc0dcdf7c27",
  enabled: true,
  created_at: "2026-08-04T13:58:26.021037Z",
  updated_at: "2026-08-04T13:58:26.021037Z",
  last_run_at: "2026-08-05T05:41:07.310026Z",
  last_success_at: "2026-08-05T05:41:07.310026Z",
  next_run_at: "2026-08-06T05:41:02.000000Z",
  first_date: "2025-02-03",
  last_date: "2026-08-04",
};
const ANSWER = { description: "The source", schema: SOURCE, example: EXAMPLE };
const LIST_PATH = "/v2/:owner/sources";
const PATH = "/v2/:owner/sources/:source";
/** How long a caller waits for the registry to know a name. */
const LOOK_MS = 5_000;
const NAME_PROBLEMS = ["unknown-name", "already-exists", ...PACKAGE_PROBLEMS] as const;

export function sourceRoutes({ pg, access, quotas = DEFAULT_QUOTAS }: SourceDeps): Route[] {
  return [
    route({
      method: "GET",
      path: LIST_PATH,
      action: "sources.read",
      operation: {
        id: "listSources",
        summary: "List the sources of a user or an organization: what registries are asked for their counts",
        query: PAGE_QUERY,
        answers: {
          200: pageAnswer({
            name: "sources",
            record: SOURCE,
            example: EXAMPLE,
            title: "SourceList",
            description: "Sources, newest first",
          }),
        },
      },
      async handle({ ctx, account, action, param }) {
        const page = parsePage(ctx.query);
        const { id: ownerId } = await ownerFor(pg, account, param("owner"), action);
        const rows = await listSources(pg, { accountId: account.id, ownerId, page });
        ctx.body = pageBody(ctx, { name: "sources", rows, page, record: (each) => each });
      },
    }),
    route({
      method: "POST",
      path: LIST_PATH,
      action: "sources.manage",
      operation: {
        id: "createSource",
        summary: "Create a source",
        description: "It is asked for its counts at once, with all of the history that the registry has.",
        body: { schema: SOURCE_CREATE, example: SENT },
        answers: { 201: ANSWER },
        problems: [...NAME_PROBLEMS, QUOTA_PROBLEMS.sources],
      },
      async handle(call) {
        const made = await createSource({ pg, access, quotas }, call);
        call.ctx.status = 201;
        putLocation(call.ctx, `/v2/${encodeURIComponent(made.owner)}/sources/${made.id}`);
        answerRecord(call.ctx, made);
      },
    }),
    route({
      method: "GET",
      path: PATH,
      action: "sources.read",
      operation: { id: "getSource", summary: "Read a source", answers: { 200: ANSWER } },
      async handle(call) {
        answerRecord(call.ctx, (await sourceFor(pg, call)).source);
      },
    }),
    route({
      method: "PUT",
      path: PATH,
      action: "sources.manage",
      operation: {
        id: "updateSource",
        summary: "Change, disable or enable a source",
        description:
          "What is left out stays as it is. Under another name it is another thing: the counts of the one before go.",
        body: { schema: SOURCE_UPDATE, example: { enabled: false } },
        answers: { 200: ANSWER },
        problems: [...NAME_PROBLEMS, "precondition-failed"],
      },
      async handle(call) {
        answerRecord(call.ctx, await changeSource({ pg, access }, call));
      },
    }),
    route({
      method: "DELETE",
      path: PATH,
      action: "sources.manage",
      operation: {
        id: "deleteSource",
        summary: "Delete a source and its counts",
        answers: { 204: { description: "It is gone" } },
        problems: ["precondition-failed"],
      },
      async handle(call) {
        await inTransaction(pg, async (client) => {
          await lockOwner(client, call.param("owner"));
          const { ownerId, source } = await sourceFor(client, call);
          requireMatch(call.ctx, entityTag(source));
          await deleteSource(client, source.id);
          await call.record(client, { ownerId, target: target(source), changes: { deleted: true } });
        });
        call.ctx.status = 204;
      },
    }),
    route({
      method: "POST",
      path: `${PATH}/run`,
      action: "sources.manage",
      operation: {
        id: "runSource",
        summary: "Ask the registry for the counts of a source now",
        answers: {
          202: { ...ANSWER, description: "It is due: `last_run_at` and `last_error` tell what came of it" },
        },
        problems: ["source-disabled"],
      },
      async handle(call) {
        const source = await inTransaction(pg, async (client) => {
          const { ownerId, source: found } = await sourceFor(client, call);
          if (!(await askForRun(client, found.id)))
            throw new Problem("source-disabled", "This source is disabled: enable it first.");
          await call.record(client, { ownerId, target: target(found), changes: { run: true } });
          return (await sourceFor(client, call)).source;
        });
        call.ctx.status = 202;
        call.ctx.body = source;
      },
    }),
  ];
}

type Asking = Pick<Call<"sources.read" | "sources.manage">, "account" | "param"> & { action: OwnerAction };

/** Throws `not-found`, also for a source of a package that the caller is blocked from, and `forbidden`. */
async function sourceFor(
  pg: Postgres,
  { account, action, param }: Asking,
): Promise<{ ownerId: string; owner: string; source: SourceRecord }> {
  const { id: ownerId, name: owner } = await ownerFor(pg, account, param("owner"), action);
  const id = param("source");
  const source = await readSource(pg, { accountId: account.id, ownerId, id });
  if (source === undefined) throw new Problem("not-found", `There is no source ${id} that you can see.`);
  return { ownerId, owner, source };
}

type Managing = Call<"sources.manage">;

async function createSource(
  { pg, access, quotas }: SourceDeps & { quotas: Quotas },
  { ctx, account, action, param, record }: Managing,
): Promise<SourceRecord> {
  const sent = await readJson(ctx, parseSourceCreate);
  const { kind, name, package: idOrName, enabled = true } = sent;
  // Checked before the registry is asked: only callers who may create a source can cause requests.
  await ownerFor(pg, account, param("owner"), action);
  await requireName(access, { kind, name });
  return inTransaction(pg, async (client) => {
    await lockOwner(client, param("owner"));
    const owner = await ownerFor(client, account, param("owner"), action);
    requireRoom(quotas, "sources", { name: owner.name, count: await countSources(client, owner.id) });
    const packageId = await packageIdOf(client, { account, owner, idOrName });
    const id = await insertSource(client, { ownerId: owner.id, kind, name, packageId, enabled }).catch(
      taken(sent),
    );
    const of = (parameter: string) => (parameter === "source" ? id : owner.name);
    const { source } = await sourceFor(client, { account, action, param: of });
    await record(client, { ownerId: owner.id, target: target(source), changes: sent });
    return source;
  });
}

async function changeSource(
  { pg, access }: Omit<SourceDeps, "quotas">,
  call: Managing,
): Promise<SourceRecord> {
  const { ctx, account, param, record } = call;
  const sent = await readJson(ctx, parseSourceUpdate);
  const { source: known } = await sourceFor(pg, call);
  const named = { kind: sent.kind ?? known.kind, name: sent.name ?? known.name };
  if (named.kind !== known.kind || named.name !== known.name) await requireName(access, named);
  return inTransaction(pg, async (client) => {
    await lockOwner(client, param("owner"));
    const { ownerId, owner, source: before } = await sourceFor(client, call);
    requireMatch(ctx, entityTag(before));
    const { kind, name, enabled } = { ...before, ...sent };
    const packageId =
      sent.package === undefined
        ? (before.package_id ?? null)
        : await packageIdOf(client, {
            account,
            owner: { id: ownerId, name: owner },
            idOrName: sent.package,
          });
    await updateSource(client, { id: before.id, kind, name, packageId, enabled }).catch(
      taken({ kind, name }),
    );
    const { source: after } = await sourceFor(client, call);
    const changes = changedFields(before, after);
    await record(client, { ownerId, target: target(after), changes });
    return after;
  });
}

interface Named {
  kind: SourceKind;
  name: string;
}

/** Throws `invalid-body`, and `unknown-name` where the registry answers in time that it has no such thing. */
async function requireName(access: RegistryAccess, { kind, name }: Named): Promise<void> {
  const { noun, name: rule } = REGISTRIES[kind];
  if (!rule.pattern.test(name))
    throw invalidBody([{ path: "/name", message: `must be a ${noun} of ${kind}, such as ${rule.example}` }]);
  const signal = AbortSignal.timeout(LOOK_MS);
  try {
    await readRegistry(access, { kind, name, today: dateAt(Date.now()), isLook: true, signal });
  } catch (error) {
    if (error instanceof UnknownName) throw new Problem("unknown-name", error.message);
    // The first run says what else is wrong, in `last_error`.
  }
}

interface PackageOf {
  account: Managing["account"];
  owner: { id: string; name: string };
  idOrName: string | null | undefined;
}

async function packageIdOf(pg: Postgres, { account, owner, idOrName }: PackageOf): Promise<string | null> {
  if (idOrName === undefined || idOrName === null) return null;
  return ownedPackageId(pg, { account, ownerId: owner.id, owner: owner.name, idOrName, field: "package" });
}

function taken({ kind, name }: Named) {
  return (error: unknown): never => {
    if (!violates(error, "sources_taken")) throw error;
    throw new Problem("already-exists", `There is a source ${kind} ${name} already.`);
  };
}

function target({ id, kind, name }: SourceRecord) {
  return { kind: "source", id, name: `${kind} ${name}` } as const;
}
