import type { ClickHouse } from "../../schemas/shards.js";
import { readList, readStatistics } from "../../aggregate/statistics/read-statistics.js";
import type { StatisticsQuery } from "../../aggregate/statistics/statistics-query.js";
import { STATISTICS_LISTS, type StatisticsList } from "../../schemas/contracts/breakdowns.js";
import { Problem } from "../../schemas/problem.js";
import { parsePage } from "../http/answers/paging.js";
import { type Owner, packageFor, requireExportOf, requireScope } from "../access/authorise.js";
import { type OwnerInPart, type Scope, ownerInPartFor, statisticsScope } from "./statistics-scope.js";
import { readPixel } from "../pixels/pixels.js";
import { SHARED_MS, limitWork } from "../http/limit-work.js";
import { type ApiContext, type Route, route } from "../http/route.js";
import { answerCsv, answerList, parsePosition, seriesAsCsv } from "./answer-list.js";
import { packageStatisticsRoute } from "./package-statistics-routes.js";
import { type StatisticsAsked, parseStatisticsQuery } from "./parse-statistics-query.js";
import { eventsFromIn, measureOf, periodOf, statisticsAnswer } from "./statistics-answer.js";
import { READ_STATISTICS, READ_STATISTICS_LIST } from "./statistics-operations.js";
import { readExportState } from "../imports/export-state.js";
import type { Account } from "../access/access.js";
import type { Changed } from "../access/audit-entries.js";
import type { Page, Postgres } from "../postgres/query.js";

/** The most rows of CSV if no page is asked for. */
const CSV_ROWS_MAX = 100_000;

export interface StatisticsRoutesDeps {
  pg: Postgres;
  clickhouse: ClickHouse;
}

/** A caller's queries, and those of all. */
export const QUERIES = { atOnce: { perKey: 4, inAll: 8 }, sharedMax: 100, remedy: "Ask for fewer days." };

export function statisticsRoutes({ pg, clickhouse }: StatisticsRoutesDeps): Route[] {
  const runLimited = limitWork(QUERIES);
  return [
    packageStatisticsRoute({ pg, clickhouse }, runLimited),
    route({
      method: "GET",
      path: "/v2/:owner/stats",
      action: "stats.read",
      operation: READ_STATISTICS,
      async handle({ ctx, account, action, param, recordExports }) {
        const asked = parseStatisticsQuery(ctx.query, { of: "all", now: new Date() });
        const format = formatOf(ctx);
        const part = await ownerInPartFor(pg, account, param("owner"), action);
        const scope = await statisticsScope(pg, part, asked);
        const exported = await admitFormat(pg, account, { part, asked, scope, format });
        const { query, isResting, ...known } = await prepare(pg, { owner: part.owner, scope, asked });
        const work = async (signal: AbortSignal) => {
          const { interval, limit, versions } = asked;
          const shown = { interval, limit, versions, lists: STATISTICS_LISTS };
          const read = await readStatistics(clickhouse, { ...query, ...shown, signal });
          return statisticsAnswer(asked, { ...known, scope, read });
        };
        const sharing = { key: JSON.stringify([query, asked]), takesBegun: isResting };
        const statistics = await runLimited(ctx, { caller: account.id, sharing }, work);
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
      async handle({ ctx, account, action, param, recordExports }) {
        const asked = parseStatisticsQuery(ctx.query, { of: "list", now: new Date() });
        const search = parseSearch(ctx.query["search"]);
        const format = formatOf(ctx);
        const page = pageOf(ctx, format);
        const part = await ownerInPartFor(pg, account, param("owner"), action);
        const scope = await statisticsScope(pg, part, asked);
        const exported = await admitFormat(pg, account, { part, asked, scope, format });
        const list = listNamed(param("breakdown"));
        const { query, completeThrough, eventsFrom } = await prepare(pg, { owner: part.owner, scope, asked });
        const { range, before, versions } = asked;
        const after = page.after === undefined ? undefined : parsePosition(page.after);
        const limit = page.perPage + 1;
        const read = await runLimited(ctx, { caller: account.id }, (signal) =>
          readList(clickhouse, { ...query, lists: [list], versions, limit, search, after, signal }),
        );
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

interface Asked {
  owner: Owner;
  scope: Scope;
  asked: StatisticsAsked;
}

interface Prepared {
  completeThrough: string;
  eventsFrom: string | undefined;
  query: Omit<StatisticsQuery, "signal">;
  /** Whether no import was started, aborted or retracted shortly before: who asks again meanwhile gets the same numbers. */
  isResting: boolean;
}

/** The state of the owner's imports is read before the events: they must contain all that it promises. */
async function prepare(pg: Postgres, { owner, scope, asked }: Asked): Promise<Prepared> {
  const since = new Date(Date.now() - SHARED_MS).toISOString();
  const { completeThrough, unsettled, eventsFrom } = await readExportState(pg, [owner.id], { since });
  const { range, before, filters, automated } = asked;
  return {
    completeThrough,
    eventsFrom: eventsFromIn(asked, { scope, eventsFrom }),
    query: { ...scope, range, before, filters, automated, unsettled },
    isResting: !unsettled.changed,
  };
}

type Format = "json" | "csv";

function formatOf(ctx: ApiContext): Format {
  ctx.vary("Accept");
  return ctx.accepts("application/json", "text/csv") === "text/csv" ? "csv" : "json";
}

/**
 * CSV leaves the service as a file: it is an export, of the package alone where one is asked for. Answers what is to be
 * recorded of it.
 */
async function admitFormat(
  pg: Postgres,
  account: Account,
  { part: { owner }, asked, scope, format }: Omit<Asked, "owner"> & { part: OwnerInPart; format: Format },
): Promise<Changed | undefined> {
  if (format !== "csv") return undefined;
  const [id] = scope.packages;
  const pixel = asked.pixel === undefined ? undefined : scope.pixels[0];
  const row = pixel && (await readPixel(pg, { accountId: account.id, id: pixel }));
  // With its package, of which the audit log says nothing to the blocked.
  const of = row && { pixel, package_id: row.packageId ?? undefined };
  const changes = { export: "statistics", format, ...asked.range, ...of };
  if (asked.package === undefined || id === undefined) {
    await requireExportOf(pg, account, owner.name);
    return { ownerId: owner.id, target: owner, changes };
  }
  requireScope(account, "packages.export");
  const { name } = await packageFor(pg, account, id, "packages.export");
  return { ownerId: owner.id, target: { kind: "package", id, name }, changes };
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
