import type { Pool } from "pg";
import type { ClickHouse } from "../../../schemas/shards.js";
import { readList, readStatistics } from "../../../aggregate/statistics/read-statistics.js";
import { STATISTICS_LISTS, type StatisticsList } from "../../../schemas/contracts/breakdowns.js";
import { Problem } from "../../../schemas/problem.js";
import { pageOf } from "../../base/http/answers/paging.js";
import { limitWork } from "../../base/http/limit-work.js";
import { type Route, route } from "../../base/http/route.js";
import { answerCsv, answerList, parsePosition, seriesAsCsv } from "./answer-list.js";
import { packageStatisticsRoute } from "./package-statistics-routes.js";
import type { StatisticsAsked } from "./statistics-asked.js";
import { measureOf, periodOf, statisticsAnswer } from "./statistics-answer.js";
import { READ_STATISTICS, READ_STATISTICS_LIST } from "./statistics-operations.js";
import { prepareStatistics } from "./prepare-statistics.js";
import { adoptionRoute } from "./adoption-route.js";
import { readEndsOfLifeRoute, setEndsOfLifeRoute } from "./end-of-life-routes.js";

/** The most rows of CSV if no page is asked for. */
const CSV_ROWS_MAX = 100_000;

export interface StatisticsRoutesDeps {
  pg: Pool;
  clickhouse: ClickHouse;
}

/** A caller's queries, and those of all. */
export const QUERIES = { atOnce: { perKey: 4, inAll: 8 }, remedy: "Request fewer days." };

export function statisticsRoutes({ pg, clickhouse }: StatisticsRoutesDeps): Route[] {
  const runLimited = limitWork(QUERIES);
  return [
    packageStatisticsRoute({ pg, clickhouse }, runLimited),
    adoptionRoute({ pg, clickhouse }, runLimited),
    readEndsOfLifeRoute({ pg, clickhouse }, runLimited),
    setEndsOfLifeRoute({ pg }),
    route({
      method: "GET",
      path: "/v2/:owner/stats",
      action: "stats.read",
      operation: READ_STATISTICS,
      async handle(call) {
        const { ctx, recordExports } = call;
        const prepared = await prepareStatistics(pg, runLimited, call, isByHour);
        const { asked, scope, exported, readOnce } = prepared;
        const statistics = await readOnce("statistics", async ({ query, ...known }) => {
          const { interval, limit, versions } = asked;
          const shown = { interval, limit, versions, lists: STATISTICS_LISTS };
          const read = await readStatistics(clickhouse, { ...query, ...shown });
          return statisticsAnswer(asked, { ...known, scope, read });
        });
        if (exported === undefined) return void (ctx.body = statistics);
        answerCsv(ctx, seriesAsCsv(statistics));
        recordExports(exported);
      },
    }),
    route({
      method: "GET",
      path: "/v2/:owner/stats/:breakdown",
      action: "stats.read",
      operation: READ_STATISTICS_LIST,
      async handle(call) {
        const { ctx, param, recordExports } = call;
        const prepared = await prepareStatistics(pg, runLimited, call);
        const { asked, format, scope, exported, readOnce } = prepared;
        const isWhole = format === "csv" && ctx.query["per_page"] === undefined;
        const page = { ...pageOf(call.query), ...(isWhole && { perPage: CSV_ROWS_MAX }) };
        const list = listNamed(param("breakdown"));
        const { range, before, versions } = asked;
        const after = page.after === undefined ? undefined : parsePosition(page.after);
        const shown = { versions, limit: page.perPage + 1, search: call.query.search, after };
        const listed = await readOnce([list.name, shown], async ({ query, ...known }) => {
          const read = await readList(clickhouse, { ...query, ...shown, lists: [list] });
          return { ...read, ...known };
        });
        const { completeThrough, eventsFrom, ...read } = listed;
        const about = {
          ...periodOf(range),
          complete_through: completeThrough,
          ...(eventsFrom !== undefined && { events_from: eventsFrom }),
          ...(before !== undefined && { compare: periodOf(before) }),
        };
        answerList(ctx, { ...read, list, measure: measureOf(list, scope), page, about, format });
        if (exported !== undefined) recordExports(exported);
      },
    }),
  ];
}

/** The daily tables have no hours. */
function isByHour({ interval }: StatisticsAsked): boolean {
  return interval === "hour";
}

function listNamed(name: string): StatisticsList {
  const list = STATISTICS_LISTS.find((each) => each.name === name);
  if (list !== undefined) return list;
  const names = STATISTICS_LISTS.map((each) => each.name).join(", ");
  throw new Problem("not-found", `Unknown list ${name.slice(0, 40)}. Lists: ${names}.`);
}
