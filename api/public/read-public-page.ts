import { readStatistics } from "../../aggregate/statistics/read-statistics.js";
import type { ListRow } from "../../aggregate/statistics/statistics-query.js";
import type { Interval, StatisticsBucket, StatisticsRow } from "../../schemas/contracts/statistics.js";
import { COUNTRIES_MAX } from "../../schemas/contracts/lists.js";
import { dateAt, DAY_MS, lastDays, type DateRange } from "../../schemas/date-range.js";
import { rowOf, seriesOf } from "../statistics/statistics-answer.js";
import type { Reading } from "./public-numbers.js";
import { listNamed, queryOf, readVersions } from "./read-badge-value.js";

/** The numbers of a package that everybody may see. The type has no place for companies, addresses, cities or variables. */
export interface PublicNumbers {
  range: DateRange;
  interval: Interval;
  downloads: number;
  /** The downloads of as many days right before. */
  downloadsBefore: number;
  series: readonly Pick<StatisticsBucket, "date" | "downloads">[];
  lists: Readonly<Record<PublicList, readonly StatisticsRow[]>>;
}

/** In their order on the page. */
export const PUBLIC_LISTS = ["country", "version", "client", "platform"] as const;
export type PublicList = (typeof PUBLIC_LISTS)[number];

/** The ranges that a page may have: events are read for the versions of most types, as for filters. */
export const PUBLIC_DAYS = [30, 90] as const;
export type PublicDays = (typeof PUBLIC_DAYS)[number];

const ROWS_MAX = 10;

/** Reads the numbers of a public page, those of today included. */
export async function readPublicPage(
  reading: Reading,
  { days, now }: { days: PublicDays; now: Date },
): Promise<PublicNumbers> {
  const range = lastDays(days, now);
  const before = { startDate: dateAt(Date.parse(range.startDate) - days * DAY_MS), endDate: range.startDate };
  const query = { ...queryOf(reading, range), before };
  const interval = "day";
  const [read, versions] = await Promise.all([
    readStatistics(reading.clickhouse, {
      ...query,
      interval,
      lists: [listNamed("country"), listNamed("client"), listNamed("platform")],
      limit: COUNTRIES_MAX,
    }),
    readVersions(reading, { ...query, limit: ROWS_MAX }),
  ]);
  const downloads = read.now.totals.downloads;
  const rowsOf = (name: PublicList, rows: readonly ListRow[] = read.lists.get(name) ?? []) =>
    rows.map((row) => rowOf(row, { list: listNamed(name), measure: "downloads", total: downloads }));
  return {
    range,
    interval,
    downloads,
    downloadsBefore: read.before?.totals.downloads ?? 0,
    series: seriesOf(read.now, { range, interval }),
    lists: {
      country: rowsOf("country"),
      version: rowsOf("version", versions),
      client: rowsOf("client").slice(0, ROWS_MAX),
      platform: rowsOf("platform").slice(0, ROWS_MAX),
    },
  };
}
