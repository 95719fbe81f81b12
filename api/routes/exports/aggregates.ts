import { openAggregates } from "../../../aggregate/queries/open-aggregates.js";
import type { ResultSource } from "../../../aggregate/queries/open-rows.js";
import { AGGREGATE_V1, BREAKDOWNS, type Breakdown } from "../../../schemas/contracts/aggregate.js";
import { parseDateRange } from "../../../schemas/date-range.js";
import { MEDIA_TYPES } from "../../../schemas/contracts/export-format.js";
import { isUuid } from "../../../schemas/formats.js";
import { Problem } from "../../../schemas/problem.js";
import { answerRows, type ExportListener, type OpenRows } from "../../exports/answer-rows.js";
import { ownerFor, type Owner } from "../../authorise/authorise.js";
import { access } from "../../access.js";
import { EXPORT_HEADERS, rangeQuery } from "../../exports/export-parameters.js";
import { negotiateFormat } from "../../answers/negotiate-format.js";
import type { Operation } from "../../operation.js";
import { route, type ApiContext, type Route } from "../../route.js";
import { readCompleteThrough } from "../../stores/imports/complete-through.js";
import { listPackagesOfOwner } from "../../stores/packages/packages.js";
import type { Postgres } from "../../stores/query.js";

const DAYS_MAX = 366;

export interface AggregateRoutesDeps {
  pg: Postgres;
  clickhouse: ResultSource;
  listener?: ExportListener;
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
      operation: OPERATIONS[kind],
      async handle({ ctx, account, action, param }) {
        const query = parseAggregatesQuery(ctx);
        const owner = await ownerFor(deps.pg, account, param("owner"), action, { kind });
        await answerAggregates(ctx, { owner, accountId: account.id, query }, deps);
      },
    }),
  );
}

const EXPORT: Omit<Operation, "id" | "summary"> = {
  description:
    "A stream, compressed when asked for (gzip, zstd), ordered by package, date, breakdown and value. A failure " +
    "halfway breaks the connection; `TE: trailers` has a complete answer end with the number of its rows, " +
    "`X-Row-Count`, and is not answered with zstd.",
  query: {
    ...rangeQuery({ daysMax: DAYS_MAX }),
    breakdown: {
      schema: { type: "string", example: "total,country" },
      description: `Only these, separated by commas: ${BREAKDOWNS.join(", ")}`,
    },
    package: { schema: { type: "string", format: "uuid" }, description: "Only this package" },
  },
  answers: {
    200: {
      description:
        "One aggregate a line or a row, in the format of `Accept`: NDJSON where nothing else is asked for",
      schema: AGGREGATE_V1,
      example: {
        breakdown: "country",
        date: "2026-11-01",
        package: "01a1fbad-ca48-70ed-9525-6dc0dcdf7c27",
        total: 12,
        country: "DE",
      },
      types: Object.values(MEDIA_TYPES),
      headers: EXPORT_HEADERS,
    },
  },
  problems: ["export-not-granted", "invalid-date", "empty-range", "range-too-long"],
};

const OPERATIONS: Record<"organization" | "user", Operation> = {
  organization: {
    ...EXPORT,
    id: "exportOrganizationAggregates",
    summary: "Daily counts of the packages of an organization, by breakdown",
  },
  user: {
    ...EXPORT,
    id: "exportUserAggregates",
    summary: "Daily counts of your own packages, by breakdown",
  },
};

interface AggregatesQuery {
  startDate: string;
  endDate: string;
  breakdowns: readonly Breakdown[];
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
  { pg, clickhouse, listener }: AggregateRoutesDeps,
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
  // Read before the rows: the rows must contain all that the header promises.
  ctx.set("X-Complete-Through", await readCompleteThrough(pg, owner.id));
  const format = negotiateFormat(ctx);
  const open: OpenRows = (asked) => openAggregates(clickhouse, { packages, ...query, format, ...asked });
  await answerRows(ctx, open, { listener, format, zstd: true });
}
