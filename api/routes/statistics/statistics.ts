import type { ClickHouseClient } from "@clickhouse/client";
import { readList, readStatistics } from "../../../aggregate/statistics/read-statistics.js";
import type { StatisticsQuery } from "../../../aggregate/statistics/statistics-query.js";
import { STATISTICS_LISTS, type StatisticsList } from "../../../schemas/contracts/statistics/lists.js";
import { Problem } from "../../../schemas/problem.js";
import { parsePage } from "../../answers/paging.js";
import { requireExportOf, type Owner } from "../../authorise/authorise.js";
import { ownerInPartFor, type OwnerInPart } from "../../authorise/owner-in-part.js";
import { route, type ApiContext, type Call, type Route } from "../../route.js";
import { answerList } from "../../statistics/answer-list.js";
import { limitStatistics } from "../../statistics/limit-statistics.js";
import { parsePosition } from "../../statistics/list-position.js";
import { packageStatisticsRoute } from "./package-statistics.js";
import { parseStatisticsQuery, type StatisticsAsked } from "../../statistics/parse-statistics-query.js";
import { measureOf, periodOf, statisticsAnswer } from "../../statistics/statistics-answer.js";
import { READ_STATISTICS, READ_STATISTICS_LIST } from "../../statistics/statistics-operations.js";
import { statisticsScope, type Scope } from "../../statistics/statistics-scope.js";
import { readExportState } from "../../stores/imports/export-state.js";
import type { Page } from "../../stores/page.js";
import type { Postgres } from "../../stores/query.js";

/** What CSV has where no page is asked for. */
const CSV_ROWS_MAX = 100_000;

export interface StatisticsRoutesDeps {
  pg: Postgres;
  clickhouse: ClickHouseClient;
}

export function statisticsRoutes({ pg, clickhouse }: StatisticsRoutesDeps): Route[] {
  const runLimited = limitStatistics();
  return [
    packageStatisticsRoute({ pg, clickhouse }, runLimited),
    route({
      method: "GET",
      path: "/v2/:owner/stats",
      action: "stats.read",
      operation: READ_STATISTICS,
      async handle({ ctx, account, action, param }) {
        const asked = parseStatisticsQuery(ctx.query, { of: "all", now: new Date() });
        const part = await ownerInPartFor(pg, account, param("owner"), action);
        const scope = await statisticsScope(pg, part, asked);
        ctx.body = await runLimited(ctx, account.id, async (signal) => {
          const { completeThrough, query } = await prepare(pg, { owner: part.owner, scope, asked, signal });
          const { interval, limit } = asked;
          const read = await readStatistics(clickhouse, {
            ...query,
            interval,
            limit,
            lists: STATISTICS_LISTS,
          });
          return statisticsAnswer(asked, { completeThrough, scope, read });
        });
      },
    }),
    route({
      method: "GET",
      path: "/v2/:owner/stats/:breakdown",
      action: "stats.read",
      operation: READ_STATISTICS_LIST,
      async handle(call) {
        const { ctx, account, param } = call;
        const asked = parseStatisticsQuery(ctx.query, { of: "list", now: new Date() });
        const search = parseSearch(ctx.query["search"]);
        const format = formatOf(ctx);
        const page = pageOf(ctx, format);
        const part = await ownerOf(pg, call, format);
        const list = listNamed(param("breakdown"));
        const scope = await statisticsScope(pg, part, asked);
        await runLimited(ctx, account.id, async (signal) => {
          const { completeThrough, query } = await prepare(pg, { owner: part.owner, scope, asked, signal });
          const after = page.after === undefined ? undefined : parsePosition(page.after);
          const limit = page.perPage + 1;
          const read = await readList(clickhouse, { ...query, lists: [list], limit, search, after });
          const { range, before } = asked;
          const about = {
            ...periodOf(range),
            complete_through: completeThrough,
            ...(before !== undefined && { compare: periodOf(before) }),
          };
          answerList(ctx, { ...read, list, measure: measureOf(list, scope), page, about, format });
        });
      },
    }),
  ];
}

interface Asked {
  owner: Owner;
  scope: Scope;
  asked: StatisticsAsked;
  signal: AbortSignal;
}

/** The state of the owner's imports is read before the events: they must contain all that it promises. */
async function prepare(
  pg: Postgres,
  { owner, scope, asked: { range, before, filters }, signal }: Asked,
): Promise<{ completeThrough: string; query: StatisticsQuery }> {
  const { completeThrough, unsettled } = await readExportState(pg, [owner.id]);
  return { completeThrough, query: { ...scope, range, before, filters, unsettled, signal } };
}

type Format = "json" | "csv";

function formatOf(ctx: ApiContext): Format {
  ctx.vary("Accept");
  return ctx.accepts("application/json", "text/csv") === "text/csv" ? "csv" : "json";
}

/** CSV leaves the service as a file: it is an export. */
async function ownerOf(
  pg: Postgres,
  { account, action, param }: Call<"stats.read">,
  format: Format,
): Promise<OwnerInPart> {
  const part = await ownerInPartFor(pg, account, param("owner"), action);
  if (format === "csv") await requireExportOf(pg, account, param("owner"));
  return part;
}

function pageOf(ctx: ApiContext, format: Format): Page {
  const page = parsePage(ctx.query, (text) => parsePosition(text) !== undefined);
  const isWhole = format === "csv" && ctx.query["per_page"] === undefined;
  return isWhole ? { ...page, perPage: CSV_ROWS_MAX } : page;
}

function listNamed(name: string): StatisticsList {
  const list = STATISTICS_LISTS.find((each) => each.name === name);
  if (list !== undefined) return list;
  const names = STATISTICS_LISTS.map((each) => each.name).join(", ");
  throw new Problem("not-found", `There is no breakdown ${name.slice(0, 40)}, only ${names}.`);
}

function parseSearch(search: string | string[] | undefined): string | undefined {
  if (search === undefined) return undefined;
  if (typeof search === "string" && search !== "" && search.length <= 256) return search;
  throw new Problem("invalid-query", "search must be one text of 1 to 256 characters.");
}
