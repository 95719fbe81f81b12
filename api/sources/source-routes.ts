import { RateLimiterMemory } from "rate-limiter-flexible";
import { SOURCE, SOURCE_CREATE, SOURCE_UPDATE, type SourceRecord } from "../../schemas/contracts/source.js";
import { Problem } from "../../schemas/problem.js";
import { ownerFor } from "../access/authorise.js";
import { lockOwner } from "../access/owners.js";
import { DEFAULT_QUOTAS, QUOTA_PROBLEMS, type Quotas } from "../access/quotas.js";
import { answerRecord, entityTag, putLocation, requireMatch } from "../http/answers/headers.js";
import { PAGE_QUERY, pageAnswer, pageBody, pageOf } from "../http/answers/paging.js";
import { type Route, route } from "../http/route.js";
import { PACKAGE_PROBLEMS } from "../packages/packages.js";
import { inTransaction } from "../postgres/connection.js";
import type { Postgres } from "../postgres/query.js";
import { LOOKS_MAX, type SourceDeps, changeSource, createSource } from "./change-source.js";
import { readRegistryPause } from "./registry-turns.js";
import { askForRun, deleteSource, listSources, sourceFor, sourceTarget } from "./sources.js";

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
const NAME_PROBLEMS = ["unknown-name", "rate-limited", "already-exists", ...PACKAGE_PROBLEMS] as const;

type RouteDeps = Pick<SourceDeps, "pg" | "access"> & { quotas?: Quotas };

export function sourceRoutes({ pg, access, quotas = DEFAULT_QUOTAS }: RouteDeps): Route[] {
  const looks = new RateLimiterMemory({ points: LOOKS_MAX, duration: 60 });
  const deps: SourceDeps = { pg, access, looks, quotas };
  return [
    route({
      method: "GET",
      path: LIST_PATH,
      action: "sources.read",
      operation: {
        id: "listSources",
        summary: "List sources",
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
      async handle({ ctx, account, action, query, param }) {
        const page = pageOf(query);
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
        description:
          "Fetching starts immediately and covers the registry's whole history. An account can look up " +
          `${LOOKS_MAX} names a minute at each registry.`,
        body: { schema: SOURCE_CREATE, example: SENT },
        answers: { 201: ANSWER },
        problems: [...NAME_PROBLEMS, QUOTA_PROBLEMS.sources],
      },
      async handle(call) {
        const made = await createSource(deps, call);
        call.ctx.status = 201;
        putLocation(call.ctx, `/v2/${encodeURIComponent(made.owner)}/sources/${made.id}`);
        answerRecord(call.ctx, made);
      },
    }),
    route({
      method: "GET",
      path: PATH,
      action: "sources.read",
      operation: { id: "getSource", summary: "Get a source", answers: { 200: ANSWER } },
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
        summary: "Update, disable or enable a source",
        description:
          "Omitted fields stay as they are. If you change the name, the counts of the previous name are deleted.",
        body: { schema: SOURCE_UPDATE, example: { enabled: false } },
        answers: { 200: ANSWER },
        problems: [...NAME_PROBLEMS, "precondition-failed"],
      },
      async handle(call) {
        answerRecord(call.ctx, await changeSource(deps, call));
      },
    }),
    route({
      method: "DELETE",
      path: PATH,
      action: "sources.manage",
      operation: {
        id: "deleteSource",
        summary: "Delete a source and its counts",
        answers: { 204: { description: "Source deleted" } },
        problems: ["precondition-failed"],
      },
      async handle(call) {
        await inTransaction(pg, async (client) => {
          await lockOwner(client, call.param("owner"));
          const { ownerId, source } = await sourceFor(client, call);
          requireMatch(call.ctx, entityTag(source));
          await deleteSource(client, source.id);
          await call.record(client, { ownerId, target: sourceTarget(source), changes: { deleted: true } });
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
        summary: "Fetch the counts of a source now",
        description: "Returns 503 with `Retry-After` while the registry is limiting requests.",
        answers: {
          202: {
            ...ANSWER,
            description: "The run is queued. `last_run_at` and `last_error` show its result",
          },
        },
        problems: ["source-disabled"],
      },
      async handle(call) {
        await requireUnpaused(pg, (await sourceFor(pg, call)).source);
        const source = await inTransaction(pg, async (client) => {
          const { ownerId, source: found } = await sourceFor(client, call);
          if (!(await askForRun(client, found.id)))
            throw new Problem("source-disabled", "This source is disabled. Enable it first.");
          await call.record(client, {
            ownerId,
            target: sourceTarget(found),
            changes: { run: true },
            isRepeatable: true,
          });
          return (await sourceFor(client, call)).source;
        });
        call.ctx.status = 202;
        call.ctx.body = source;
      },
    }),
  ];
}

async function requireUnpaused(pg: Postgres, { kind }: SourceRecord): Promise<void> {
  const paused = await readRegistryPause(pg, kind);
  if (paused === undefined) return;
  const retryAfterSeconds = Math.max(1, Math.ceil((paused.until.getTime() - Date.now()) / 1000));
  const sentence = `${paused.reason} The next attempt is in ${retryAfterSeconds} s.`;
  throw new Problem("unavailable", sentence, { retryAfterSeconds });
}
