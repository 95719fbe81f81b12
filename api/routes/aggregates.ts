import type { ClickHouseClient } from "@clickhouse/client";
import { openAggregates } from "../../aggregate/open-aggregates.js";
import { BREAKDOWNS, type Breakdown } from "../../schemas/aggregate.js";
import { parseDateRange } from "../../schemas/date-range.js";
import { isUuid } from "../../schemas/formats.js";
import { Problem } from "../../schemas/problem.js";
import { answerRows, type ExportWatch } from "../answer-rows.js";
import { ownerFor, type Owner } from "../authorise.js";
import { access } from "../access.js";
import { route, type ApiContext, type Route } from "../route.js";
import { readCompleteThrough } from "../stores/complete-through.js";
import { listPackagesOfOwner } from "../stores/packages.js";
import type { Postgres } from "../stores/query.js";

const DAYS_MAX = 366;

export interface AggregateRoutesDeps {
  pg: Postgres;
  clickhouse: ClickHouseClient;
  watch?: ExportWatch;
}

const PATHS = [
  { kind: "organization", path: "/v1/organizations/:owner/aggregates" },
  { kind: "user", path: "/v1/users/:owner/aggregates" },
] as const;

export function aggregateRoutes(deps: AggregateRoutesDeps): Route[] {
  return PATHS.map(({ kind, path }) =>
    route({
      method: "GET",
      path,
      action: "export.read",
      async handle({ ctx, account, action, param }) {
        const query = parseAggregatesQuery(ctx);
        const owner = await ownerFor(deps.pg, account, param("owner"), action, { kind });
        await answerAggregates(ctx, { owner, accountId: account.id, query }, deps);
      },
    }),
  );
}

interface AggregatesQuery {
  startDate: string;
  endDate: string;
  breakdowns: readonly Breakdown[];
  /** Narrows to one package. */
  packageId: string | undefined;
}

function parseAggregatesQuery(ctx: ApiContext): AggregatesQuery {
  const range = parseDateRange(ctx.query, { daysMax: DAYS_MAX });
  const { breakdown, package: packageId } = ctx.query;
  if (packageId !== undefined && (typeof packageId !== "string" || !isUuid(packageId)))
    throw new Problem("invalid-query", "package must be the uuid of one package.");
  return { ...range, breakdowns: parseBreakdowns(breakdown), packageId: packageId?.toLowerCase() };
}

function parseBreakdowns(text: string | string[] | undefined): readonly Breakdown[] {
  if (text === undefined) return BREAKDOWNS;
  const names = (typeof text === "string" ? [text] : text).flatMap((each) => each.split(","));
  const unknown = names.find((name) => !BREAKDOWNS.includes(name as Breakdown));
  if (unknown === undefined) return names as Breakdown[];
  throw new Problem("invalid-query", `breakdown must be of ${BREAKDOWNS.join(", ")}.`);
}

interface Asked {
  owner: Owner;
  accountId: string;
  query: AggregatesQuery;
}

async function answerAggregates(
  ctx: ApiContext,
  { owner, accountId, query }: Asked,
  { pg, clickhouse, watch }: AggregateRoutesDeps,
): Promise<void> {
  const owned = await listPackagesOfOwner(pg, { ownerId: owner.id, accountId });
  const packages = owned
    .filter((row) => access(row, "packages.export", row) === "allowed")
    .map(({ id }) => id)
    .filter((id) => query.packageId === undefined || id === query.packageId);
  if (query.packageId !== undefined && packages.length === 0)
    throw new Problem(
      "not-found",
      `There is no package ${query.packageId} of ${owner.name} that you can see.`,
    );
  // Before the rows are read: what it promises is in them.
  ctx.set("X-Complete-Through", await readCompleteThrough(pg, owner.id));
  await answerRows(ctx, (signal) => openAggregates(clickhouse, { packages, ...query, signal }), watch);
}
