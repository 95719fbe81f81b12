import { RateLimiterMemory } from "rate-limiter-flexible";
import {
  SOURCE,
  SOURCE_CREATE,
  SOURCE_UPDATE,
  type SourceRecord,
  parseSourceCreate,
  parseSourceUpdate,
} from "../../../schemas/contracts/source.js";
import { Problem } from "../../../schemas/problem.js";
import { ownerFor } from "../../base/access/authorise.js";
import { DEFAULT_QUOTAS, type Quotas } from "../../base/access/quotas.js";
import { type Resource, findById, named, toOwner } from "../../base/http/resource.js";
import { listRoute } from "../../base/http/resource-lists.js";
import { createRoute, deleteRoute, getRoute, updateRoute } from "../../base/http/resource-routes.js";
import { type Route, route } from "../../base/http/route.js";
import { PACKAGE_PROBLEMS } from "../packages/packages.js";
import { inTransaction } from "../../base/postgres/connection.js";
import type { Postgres } from "../../base/postgres/query.js";
import {
  LOOKS_MAX,
  type SourceDeps,
  applyChange,
  insertSent,
  prepareChange,
  prepareSource,
} from "./change-source.js";
import { readRegistryPause } from "./registry-turns.js";
import { askForRun, countSources, deleteSource, listSources, readSource, sourceTarget } from "./sources.js";

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
const PATH = "/v2/:owner/sources/:source";

type RouteDeps = Pick<SourceDeps, "pg" | "access"> & { quotas?: Quotas };

export function sourceRoutes({ pg, access, quotas = DEFAULT_QUOTAS }: RouteDeps): Route[] {
  const looks = new RateLimiterMemory({ points: LOOKS_MAX, duration: 60 });
  const deps: SourceDeps = { pg, access, looks, quotas };
  const resource = {
    pg,
    name: "source",
    plural: "sources",
    path: "/v2/:owner/sources",
    actions: {
      read: "sources.read",
      create: "sources.manage",
      update: "sources.manage",
      delete: "sources.manage",
    },
    schema: SOURCE,
    example: EXAMPLE,
    admit: toOwner(ownerFor),
    list: listSources,
    find: findById({ name: "source", admit: toOwner(ownerFor), read: readSource }),
    recordOf: (source) => source,
    targetOf: sourceTarget,
  } as const satisfies Resource<SourceRecord>;
  const problems = ["unknown-name", "rate-limited", "already-exists", ...PACKAGE_PROBLEMS] as const;
  return [
    listRoute(resource),
    createRoute(resource, {
      description:
        "Fetching starts immediately and covers the registry's whole history. An account can look up " +
        `${LOOKS_MAX} names a minute at each registry.`,
      body: { schema: SOURCE_CREATE, example: SENT },
      parse: parseSourceCreate,
      problems,
      quotas,
      count: countSources,
      prepare: (call, sent) => prepareSource(deps, { call, sent }),
      insert: insertSent,
      changesOf: (sent) => sent,
    }),
    getRoute(resource),
    updateRoute(resource, {
      description:
        "Omitted fields stay as they are. If you change the name, the counts of the previous name are deleted.",
      body: { schema: SOURCE_UPDATE, example: { enabled: false } },
      parse: parseSourceUpdate,
      problems,
      prepare: (call, sent, found) => prepareChange(deps, { call, sent, ...found }),
      apply: applyChange,
    }),
    deleteRoute(resource, {
      summary: "Delete a source and its counts",
      delete: (client, { id }) => deleteSource(client, id),
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
            description: "The run is queued. `last_run_at` and `last_error` show its result",
            schema: SOURCE,
            example: EXAMPLE,
          },
        },
        problems: ["source-disabled"],
      },
      async handle(call) {
        const asked = named(resource, call);
        await requireUnpaused(pg, (await resource.find(pg, asked)).row);
        call.ctx.body = await inTransaction(pg, async (client) => {
          const { owner, row } = await resource.find(client, asked);
          if (!(await askForRun(client, row.id)))
            throw new Problem("source-disabled", "This source is disabled. Enable it first.");
          const target = sourceTarget(row);
          await call.record(client, {
            ownerId: owner.id,
            target,
            changes: { run: true },
            isRepeatable: true,
          });
          return (await resource.find(client, asked)).row;
        });
        call.ctx.status = 202;
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
