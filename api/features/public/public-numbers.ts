import type { ClickHouse } from "../../../schemas/shards.js";
import { LRUCache } from "lru-cache";
import { limitConcurrency } from "../../../schemas/async/limit-concurrency.js";
import type { PublicPackage } from "./public-packages.js";
import type { Postgres } from "../../base/postgres/query.js";
import { readExportState } from "../imports/export-state.js";
import type { UnsettledImports } from "../../../schemas/records/settlement.js";
import { readList, readStatistics } from "../../../aggregate/statistics/read-statistics.js";
import type { StatisticsQuery } from "../../../aggregate/statistics/statistics-query.js";
import { COUNTRIES_MAX, listNamed } from "../../../schemas/contracts/breakdowns.js";
import { DAY_MS, type DateRange, dateAt, lastDays } from "../../../schemas/date-range.js";
import type { Metric, Period } from "./parse-badge.js";
import type { Interval, StatisticsBucket, StatisticsRow } from "../../../schemas/contracts/statistics.js";
import { comparedRanges } from "../statistics/compared-ranges.js";
import { rowOf, seriesOf } from "../statistics/statistics-answer.js";

export interface PublicNumbersDeps {
  pg: Postgres;
  clickhouse: ClickHouse;
}

/** The stores, and what a query of statistics needs beside its question. */
interface Reading extends PublicNumbersDeps {
  found: PublicPackage;
  unsettled: UnsettledImports;
  signal: AbortSignal;
}

const KEPT_MAX = 10_000;
const KEPT_MS = 600_000;
const TIME_MS_MAX = 20_000;
/** Dashboards have permits of their own: a popular page does not slow them down. */
const AT_ONCE = { perKey: 2, inAll: 4 };

/** Kept for ten minutes, and while ClickHouse is down. All who ask at the same time share one read. */
export function keepPublicNumbers<Read extends object>(
  deps: PublicNumbersDeps,
): (asked: Asked<Read>) => Promise<Read> {
  const take = limitConcurrency(AT_ONCE);
  const kept = new LRUCache<string, Read, Asked<Read>>({
    max: KEPT_MAX,
    ttl: KEPT_MS,
    allowStaleOnFetchRejection: true,
    fetchMethod: async (_key, _stale, { context: { found, read } }) => {
      const signal = AbortSignal.timeout(TIME_MS_MAX);
      const permit = await take([found.id], signal);
      try {
        const { unsettled } = await readExportState(deps.pg, [found.ownerId]);
        return await read({ ...deps, found, unsettled, signal });
      } finally {
        permit[Symbol.dispose]();
      }
    },
  });
  return (asked) =>
    kept.forceFetch(`${asked.found.id} ${asked.found.automated} ${asked.key}`, { context: asked });
}

interface Asked<Read> {
  found: PublicPackage;
  key: string;
  read: (reading: Reading) => Promise<Read>;
}

/** A count or, of the metric `version`, a text. */
export interface BadgeValue {
  count: number;
  /** Absent where no version was downloaded. */
  version?: string | undefined;
}

const DAYS: Record<Period, number> = { day: 1, week: 7, month: 30, total: Infinity };

/** Reads the value of a badge: over whole UTC days, the last of which is yesterday. */
export async function readBadgeValue(
  reading: Reading,
  { metric, period, now }: { metric: Metric; period: Period; now: Date },
): Promise<BadgeValue> {
  const query = queryOf(reading, wholeDays(DAYS[period], now));
  if (metric === "addresses") {
    const read = await readStatistics(reading.clickhouse, {
      ...query,
      interval: "month",
      lists: [],
      limit: 1,
    });
    return { count: read.now.totals.addresses };
  }
  const list = listNamed(metric === "version" ? "version" : "country");
  const { total, rows } = await readList(reading.clickhouse, { ...query, lists: [list], limit: 1 });
  if (metric === "version") return { count: rows[0]?.count ?? 0, version: rows[0]?.values[0] };
  return { count: total };
}

function queryOf({ found, unsettled, signal }: Reading, range: DateRange): StatisticsQuery {
  const libraryTypes = new Set([found.libraryType]);
  return {
    packages: [found.id],
    libraryTypes,
    pixels: [],
    range,
    filters: [],
    automated: found.automated,
    unsettled,
    signal,
  };
}

function wholeDays(days: number, now: Date): DateRange {
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  return { startDate: dateAt(Math.max(0, today - days * DAY_MS)), endDate: dateAt(today) };
}

/** The numbers of a package that everybody may see. The type has no place for companies, addresses, cities or variables. */
export interface PublicNumbers {
  range: DateRange;
  interval: Interval;
  downloads: number;
  /** The downloads of the days that are over. */
  downloadsCompared: number;
  /** The downloads of the same weekdays before. */
  downloadsBefore: number;
  series: readonly Pick<StatisticsBucket, "date" | "downloads">[];
  lists: Readonly<Record<PublicList, readonly StatisticsRow[]>>;
}

export const PUBLIC_LISTS = ["country", "version", "client", "platform"] as const;
type PublicList = (typeof PUBLIC_LISTS)[number];

/** The ranges that a page may have. */
export const PUBLIC_DAYS = [30, 90] as const;
export type PublicDays = (typeof PUBLIC_DAYS)[number];

const ROWS_MAX = 10;

/** Reads the numbers of a public page, those of today included. */
export async function readPublicPage(
  reading: Reading,
  { days, now }: { days: PublicDays; now: Date },
): Promise<PublicNumbers> {
  const range = lastDays(days, now);
  const interval = "day";
  const compares = comparedRanges(range, { comparison: "previous-weekdays", interval, now });
  const query = { ...queryOf(reading, range), ...compares };
  const lists = PUBLIC_LISTS.map(listNamed);
  const read = await readStatistics(reading.clickhouse, { ...query, interval, lists, limit: COUNTRIES_MAX });
  const downloads = read.now.totals.downloads;
  const rowsOf = (name: PublicList) =>
    (read.lists.get(name) ?? []).map((row) =>
      rowOf(row, { list: listNamed(name), measure: "downloads", total: downloads }),
    );
  return {
    range,
    interval,
    downloads,
    downloadsCompared: read.compared?.totals.downloads ?? downloads,
    downloadsBefore: read.before?.totals.downloads ?? 0,
    series: seriesOf(read.now, { range, interval }),
    lists: {
      country: rowsOf("country"),
      version: rowsOf("version").slice(0, ROWS_MAX),
      client: rowsOf("client").slice(0, ROWS_MAX),
      platform: rowsOf("platform").slice(0, ROWS_MAX),
    },
  };
}
