import type { ClickHouse } from "../../../schemas/shards.js";
import { type PackageDay, readPackageDays } from "../../../aggregate/statistics/read-statistics.js";
import {
  PACKAGE_STATISTICS,
  type PackageDownloads,
  RANGE_LIMITS,
  changeOf,
} from "../../../schemas/contracts/statistics.js";
import { type DateRange, daysBetween, parseOptionalDateRange } from "../../../schemas/date-range.js";
import type { RunLimited } from "../../base/http/limit-work.js";
import { ownerInPartFor } from "./statistics-scope.js";
import { type Operation, type Route, route } from "../../base/http/route.js";
import { comparisonOf } from "./statistics-asked.js";
import { type Compared, comparedRanges } from "./compared-ranges.js";
import { AUTOMATED_PARAMETER, COMPARE_PARAMETER } from "./statistics-operations.js";
import { periodOf } from "./statistics-answer.js";
import { readExportState } from "../imports/export-state.js";
import type { Postgres } from "../../base/postgres/query.js";
import { RANGE_QUERY } from "../../base/http/answers/range-query.js";

export interface PackageStatisticsDeps {
  pg: Postgres;
  clickhouse: ClickHouse;
}

/** `/v2/{owner}/stats/packages`, which has to be registered before the lists. */
export function packageStatisticsRoute(
  { pg, clickhouse }: PackageStatisticsDeps,
  runLimited: RunLimited,
): Route {
  return route({
    method: "GET",
    path: "/v2/:owner/stats/packages",
    action: "stats.read",
    operation: READ_PACKAGE_STATISTICS,
    async handle({ ctx, account, action, query: { compare, automated, ...sent }, param }) {
      const now = new Date();
      const { daysMax, daysDefault } = RANGE_LIMITS;
      const range = parseOptionalDateRange(sent, { daysMax, daysDefault, now });
      const comparison = comparisonOf(compare);
      const compares = comparedRanges(range, { comparison, interval: "day", now });
      const { owner, packages: seen } = await ownerInPartFor(pg, account, param("owner"), action);
      const names = seen.map(({ id, name }) => [id, name]);
      const key = JSON.stringify(["packages", owner.id, names, range, compares, automated]);
      ctx.body = await runLimited(ctx, { caller: account.id, key }, async (signal) => {
        const { completeThrough } = await readExportState(pg, [owner.id]);
        const packages = seen.map(({ id }) => id);
        const query = { packages, range, before: compares.before, automated, signal };
        const days = packages.length === 0 ? [] : await readPackageDays(clickhouse, query);
        const daysOf = new Map<string, PackageDay[]>(packages.map((id) => [id, []]));
        for (const day of days) daysOf.get(day.package)?.push(day);
        return {
          ...periodOf(range),
          complete_through: completeThrough,
          packages: seen
            .map(({ id, name }) => downloadsOf(daysOf.get(id) ?? [], { id, name, range, compares }))
            .sort((one, other) => other.downloads - one.downloads || (one.name < other.name ? -1 : 1)),
        };
      });
    },
  });
}

const READ_PACKAGE_STATISTICS = {
  id: "readPackageStatistics",
  summary: "Get daily downloads of each package",
  description: `Covers the last ${RANGE_LIMITS.daysDefault} days unless a range is given. Omits packages you cannot read.`,
  query: {
    ...RANGE_QUERY,
    compare: { ...COMPARE_PARAMETER, schema: { ...COMPARE_PARAMETER.schema, default: "previous" } },
    automated: AUTOMATED_PARAMETER,
  },
  answers: {
    200: {
      description: "The packages",
      schema: PACKAGE_STATISTICS,
      example: {
        start_date: "2026-11-01",
        end_date: "2026-11-04",
        complete_through: "2026-11-04T03:51:07.021037Z",
        packages: [
          {
            package: "01a1fbad-ca48-70ed-9525-6dc0dcdf7c27",
            name: "acme/web",
            downloads: 42,
            change: 0.05,
            days: [12, 0, 30],
          },
        ],
      },
    },
  },
  problems: ["invalid-date", "empty-range", "range-too-long", "invalid-query"],
} as const satisfies Operation;

function downloadsOf(
  found: readonly PackageDay[],
  { id, name, range, compares }: { id: string; name: string; range: DateRange; compares: Compared },
): PackageDownloads {
  const days = Array.from({ length: daysBetween(range.startDate, range.endDate) }, () => 0);
  for (const { date, downloads } of found)
    if (date >= range.startDate) days[daysBetween(range.startDate, date)] = downloads;
  const { compared = range, before } = compares;
  const change = changeOf(sumWithin(found, compared), before === undefined ? 0 : sumWithin(found, before));
  return { package: id, name, downloads: sumWithin(found, range), change, days };
}

function sumWithin(days: readonly PackageDay[], { startDate, endDate }: DateRange): number {
  const within = days.filter(({ date }) => date >= startDate && date < endDate);
  return within.reduce((sum, { downloads }) => sum + downloads, 0);
}
