import type { ClickHouse } from "../../../schemas/shards.js";
import {
  type PackageDay,
  readList,
  readPackageDays,
  readStatistics,
} from "../../../aggregate/statistics/read-statistics.js";
import type { RangeCounts, StatisticsQuery } from "../../../aggregate/statistics/statistics-query.js";
import { type StatisticsList, listNamed } from "../../../schemas/contracts/breakdowns.js";
import type {
  DigestData,
  DigestTotals,
  DownloadsChangedData,
  NewCompaniesData,
  NotificationData,
  PeriodEvent,
} from "../../../schemas/contracts/notification-event.js";
import { defaultThreshold } from "../../../schemas/contracts/notification-event.js";
import { DAY_MS, type DateRange, FIRST_DAY, dateAt } from "../../../schemas/date-range.js";
import { readExportState } from "../imports/export-state.js";
import { listPixelNames } from "../packages/pixels.js";
import type { Postgres } from "../../base/postgres/query.js";
import { periodOf, rowOf, seriesOf } from "../statistics/statistics-answer.js";
import { changeOf } from "../../../schemas/contracts/statistics.js";
import { medianOf } from "./should-notify.js";
import { periodBefore } from "./periods.js";
import type { PeriodRule } from "./rules.js";
import { type ScopePackage, readScopePackages } from "./scope-packages.js";

export interface PeriodReading {
  pg: Postgres;
  clickhouse: ClickHouse;
  signal: AbortSignal;
}

type ToldRule = Pick<PeriodRule, "ownerId" | "event" | "packageId" | "thresholdPercent">;

/** What a message about the period says, by the statistics of the moment. */
export async function readPeriod(
  { pg, clickhouse, signal }: PeriodReading,
  rule: ToldRule,
  range: DateRange,
): Promise<NotificationData[PeriodEvent]> {
  const packages = await readScopePackages(pg, rule);
  const pixels = rule.packageId === null ? await listPixelNames(pg, rule.ownerId) : [];
  const { completeThrough, unsettled } = await readExportState(pg, [rule.ownerId]);
  const query: StatisticsQuery = {
    packages: packages.map(({ id }) => id),
    libraryTypes: new Set(packages.map(({ libraryType }) => libraryType)),
    pixels: pixels.map(({ id }) => id),
    range,
    filters: [],
    automated: "include",
    unsettled,
    signal,
  };
  const about = {
    ...periodOf(range),
    complete_through: completeThrough,
    correction: false,
    ...(rule.packageId !== null && packages[0] !== undefined && { package: packages[0].name }),
  };
  const asked = { clickhouse, rule, packages, query };
  switch (rule.event) {
    case "new-companies":
      return { ...about, ...(await readNewCompanies(asked, 100)) };
    case "downloads-changed":
      return { ...about, ...(await readChange(asked)) };
    case "weekly-digest":
    case "monthly-digest":
      return { ...about, ...(await readDigest(asked)) };
  }
}

interface Asked {
  clickhouse: ClickHouse;
  rule: ToldRule;
  packages: readonly ScopePackage[];
  query: StatisticsQuery;
}

const ROWS = 5;
const LISTS = ["country", "version", "company"].map(listNamed);

type OfPeriod = keyof Omit<NewCompaniesData, "new_companies" | "companies">;

async function readDigest(asked: Asked): Promise<Omit<DigestData, OfPeriod>> {
  const { clickhouse, rule, packages, query } = asked;
  const before = periodBefore(rule.event, query.range);
  const interval = rule.event === "monthly-digest" ? "week" : "day";
  const compared = { ...query, before };
  const [read, days, companies] = await Promise.all([
    readStatistics(clickhouse, { ...compared, interval, lists: LISTS, limit: ROWS }),
    readDays(clickhouse, { ...query, range: { ...query.range, startDate: before.startDate } }),
    readNewCompanies(asked, ROWS),
  ]);
  const first = <Field extends string>(list: StatisticsList, field: Field) =>
    (read.lists.get(list.name) ?? []).map((row) => {
      const found = rowOf(row, { list, measure: "downloads", total: 0 });
      return { [field]: String(found[field] ?? ""), downloads: row.count } as Record<Field, string> & {
        downloads: number;
      };
    });
  const [countries, versions] = LISTS as [StatisticsList, StatisticsList];
  return {
    totals: totalsOf(read.now),
    before: totalsOf(read.before),
    series: seriesOf(read.now, { range: query.range, interval }).map(({ date, downloads, views }) => ({
      date,
      downloads,
      views,
    })),
    packages: rule.packageId === null ? packageSums(packages, days, query.range) : [],
    countries: packages.length === 0 ? [] : first(countries, "country"),
    // Those of several packages have nothing to do with each other.
    versions: packages.length === 1 ? first(versions, "version") : [],
    ...companies,
  };
}

function totalsOf(counts: RangeCounts | undefined): DigestTotals {
  const { downloads = 0, views = 0, addresses = 0, companies = 0 } = counts?.totals ?? {};
  return { downloads, views, unique_addresses: addresses, companies };
}

function packageSums(
  packages: readonly ScopePackage[],
  days: readonly PackageDay[],
  { startDate }: DateRange,
): DigestData["packages"] {
  const sum = (of: readonly PackageDay[]) => of.reduce((total, { downloads }) => total + downloads, 0);
  return packages
    .map(({ id, name }) => {
      const own = days.filter((day) => day.package === id);
      const now = own.filter(({ date }) => date >= startDate);
      return { name, downloads: sum(now), before: sum(own) - sum(now) };
    })
    .filter(({ downloads }) => downloads > 0)
    .sort((one, other) => other.downloads - one.downloads)
    .slice(0, ROWS);
}

async function readDays(clickhouse: ClickHouse, query: StatisticsQuery): Promise<PackageDay[]> {
  return query.packages.length === 0 ? [] : readPackageDays(clickhouse, query);
}

const COMPANY = listNamed("company");
/** More than one period can bring. */
const COMPANIES_MAX = 100_000;

/** Those of which nothing was counted before. */
async function readNewCompanies(
  { clickhouse, query }: Asked,
  rows: number,
): Promise<Pick<NewCompaniesData, "new_companies" | "companies">> {
  const before = { startDate: FIRST_DAY, endDate: query.range.startDate };
  const read = await readList(clickhouse, { ...query, before, lists: [COMPANY], limit: COMPANIES_MAX });
  const found = read.rows.filter((row) => row.before === 0);
  const companies = found.slice(0, rows).map(({ values: [name = "", domain = ""], count }) => ({
    name,
    ...(domain !== "" && { domain }),
    downloads: count,
  }));
  return { new_companies: found.length, companies };
}

const WEEKS = [4, 3, 2, 1, 0] as const;

async function readChange({ clickhouse, rule, query }: Asked): Promise<Omit<DownloadsChangedData, OfPeriod>> {
  const day = Date.parse(query.range.startDate);
  const dates = WEEKS.map((weeks) => dateAt(day - weeks * 7 * DAY_MS));
  const days = await readDays(clickhouse, {
    ...query,
    range: { ...query.range, startDate: dates[0] ?? "" },
  });
  const series = dates.map((date) => ({
    date,
    downloads: days.reduce((sum, each) => sum + (each.date === date ? each.downloads : 0), 0),
  }));
  const counts = series.map(({ downloads }) => downloads);
  const downloads = counts.pop() ?? 0;
  const median = medianOf(counts);
  const threshold = rule.thresholdPercent ?? defaultThreshold(rule.event) ?? 0;
  return { downloads, median, change: changeOf(downloads, median), threshold_percent: threshold, series };
}
