import type { Pool } from "pg";
import { schemeOf } from "../../../aggregate/statistics/group-version.js";
import { readVersionUse } from "../../../aggregate/statistics/read-end-of-life.js";
import {
  END_OF_LIFE_DAYS,
  type EndsOfLife,
  ENDS_OF_LIFE,
  ENDS_OF_LIFE_USE,
  type EndOfLifeUse,
  parseEndsOfLife,
} from "../../../schemas/contracts/end-of-life.js";
import { lastDays } from "../../../schemas/date-range.js";
import type { ClickHouse } from "../../../schemas/shards.js";
import { changedFields } from "../../base/access/audit-entries.js";
import { lockedPackageFor, packageOfOwnerFor } from "../../base/access/authorise.js";
import type { PackageRow } from "../../base/access/visible-packages.js";
import { KIB } from "../../base/http/body-limits.js";
import type { RunLimited } from "../../base/http/limit-work.js";
import { readJson } from "../../base/http/middleware/read-json.js";
import { type Operation, type Route, route } from "../../base/http/route.js";
import { readExportState } from "../imports/export-state.js";
import {
  PACKAGE_PATH,
  PACKAGE_PROBLEMS,
  PACKAGE_QUERY,
  type PackageCall,
  packageOnPath,
} from "../packages/packages.js";
import { inTransaction } from "../../base/postgres/connection.js";
import { readEndsOfLife, sortEndsOfLife, updateEndsOfLife } from "./ends-of-life.js";

interface EndOfLifeDeps {
  pg: Pool;
  clickhouse: ClickHouse;
}

const PATH = "/v2/packages/:owner/:package/end-of-life";

/** From when versions are no longer maintained, and who still uses them. */
export function readEndsOfLifeRoute({ pg, clickhouse }: EndOfLifeDeps, runLimited: RunLimited): Route {
  return route({
    method: "GET",
    path: PATH,
    action: "packages.read",
    operation: GET_ENDS_OF_LIFE,
    async handle(call) {
      const { ctx, account, action } = call;
      const found = await packageOfOwnerFor(pg, account, packageOnPath(call), action);
      ctx.body = await runLimited(ctx, { caller: account.id }, async (signal) => ({
        versions: await readUse({ pg, clickhouse }, found, signal),
      }));
    },
  });
}

export function setEndsOfLifeRoute({ pg }: Pick<EndOfLifeDeps, "pg">): Route {
  return route({
    method: "PUT",
    path: PATH,
    action: "packages.update",
    operation: SET_ENDS_OF_LIFE,
    handle: (call) => changeEndsOfLife(pg, call),
  });
}

async function readUse(
  { pg, clickhouse }: EndOfLifeDeps,
  { id, ownerId, libraryType }: PackageRow,
  signal: AbortSignal,
): Promise<EndOfLifeUse[]> {
  const ends = await readEndsOfLife(pg, id);
  if (ends.length === 0) return [];
  const { unsettled } = await readExportState(pg, [ownerId]);
  const use = await readVersionUse(clickhouse, {
    packages: [id],
    libraryTypes: new Set([libraryType]),
    pixels: [],
    range: lastDays(END_OF_LIFE_DAYS, new Date()),
    filters: [],
    automated: "include",
    unsettled,
    signal,
    versions: ends.map(({ version }) => version),
  });
  return ends.map((end) => {
    const { downloads = 0, addresses = 0, companies = 0 } = use.get(end.version) ?? {};
    return { ...end, downloads, unique_addresses: addresses, companies };
  });
}

async function changeEndsOfLife(pg: Pool, call: PackageCall<"packages.update">): Promise<void> {
  const sent = await readJson(call.ctx, parseEndsOfLife);
  call.ctx.body = await inTransaction(pg, async (client): Promise<EndsOfLife> => {
    const named = await packageOfOwnerFor(client, call.account, packageOnPath(call), call.action);
    const found = await lockedPackageFor(client, call.account, named.id, call.action);
    const { id, ownerId, name, libraryType } = found;
    const versions = sortEndsOfLife(sent.versions, schemeOf(new Set([libraryType])));
    const changes = changedFields(
      { end_of_life: await readEndsOfLife(client, id) },
      { end_of_life: versions },
    );
    await updateEndsOfLife(client, { packageId: id, versions });
    await call.record(client, { ownerId, target: { kind: "package", id, name }, changes });
    return { versions };
  });
}

const ON_PACKAGE = { path: PACKAGE_PATH, query: PACKAGE_QUERY, problems: PACKAGE_PROBLEMS } as const;
const EXAMPLE = { version: "1.x", date: "2026-06-30" };
const USE = { downloads: 42, unique_addresses: 7, companies: 2 };

const GET_ENDS_OF_LIFE = {
  id: "getEndsOfLife",
  ...ON_PACKAGE,
  summary: "Get end-of-life dates and remaining usage",
  description:
    `Downloads, unique IP addresses and companies cover the last ${END_OF_LIFE_DAYS} days, including ` +
    "today. A version also counts towards every listed group that contains it, such as `1.x`.",
  answers: {
    200: {
      description: "The versions",
      schema: ENDS_OF_LIFE_USE,
      example: { versions: [{ ...EXAMPLE, ...USE }] },
    },
  },
} satisfies Operation;

const SET_ENDS_OF_LIFE = {
  id: "setEndsOfLife",
  ...ON_PACKAGE,
  summary: "Set end-of-life dates",
  description: "Replaces all dates. A version can be a single version or a group: `1.4.2`, `1.4.x`, `1.x`.",
  body: { schema: ENDS_OF_LIFE, example: { versions: [EXAMPLE] }, limits: { bytesMax: 96 * KIB } },
  answers: {
    200: { description: "The versions", schema: ENDS_OF_LIFE, example: { versions: [EXAMPLE] } },
  },
} satisfies Operation;
