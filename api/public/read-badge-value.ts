import { readFromEvents } from "../../aggregate/statistics/read-from-events.js";
import { readList, readStatistics } from "../../aggregate/statistics/read-statistics.js";
import type { ListRow, ListsQuery, StatisticsQuery } from "../../aggregate/statistics/statistics-query.js";
import { STATISTICS_LISTS, type StatisticsList } from "../../schemas/contracts/lists.js";
import { dateAt, DAY_MS, type DateRange } from "../../schemas/date-range.js";
import type { Metric, Period } from "./parse-badge.js";
import type { Reading } from "./public-numbers.js";

/** A count or, of the metric `version`, a text. */
export interface BadgeValue {
  count: number;
  /** Absent where no version was downloaded. */
  version?: string | undefined;
}

const DAYS: Record<Period, number> = { day: 1, week: 7, month: 30, total: Infinity };
/** Versions have no daily sums for every type of package: their events are read. */
const VERSION_DAYS_MAX = 90;

/** Reads the value of a badge: over whole UTC days, the last of which is yesterday. */
export async function readBadgeValue(
  reading: Reading,
  { metric, period, now }: { metric: Metric; period: Period; now: Date },
): Promise<BadgeValue> {
  const days = metric === "version" ? Math.min(VERSION_DAYS_MAX, DAYS[period]) : DAYS[period];
  const query = queryOf(reading, wholeDays(days, now));
  if (metric === "addresses") {
    const read = await readStatistics(reading.clickhouse, {
      ...query,
      interval: "month",
      lists: [],
      limit: 1,
    });
    return { count: read.now.totals.addresses };
  }
  if (metric === "version") {
    const [first] = await readVersions(reading, { ...query, limit: 2 });
    return { count: first?.count ?? 0, version: first?.values[0] };
  }
  const { total } = await readList(reading.clickhouse, { ...query, lists: [listNamed("country")], limit: 1 });
  return { count: total };
}

/** The versions of a package of any type, the most downloaded first. Only those of docker packages have daily sums. */
export async function readVersions(
  { clickhouse, found }: Pick<Reading, "clickhouse" | "found">,
  query: Omit<ListsQuery, "lists">,
): Promise<readonly ListRow[]> {
  const { libraryType, ...version } = listNamed("version");
  const isSummed = found.libraryType === libraryType;
  const list = isSummed ? readList : readFromEvents.list.bind(readFromEvents);
  const { rows } = await list(clickhouse, { ...query, lists: [version] });
  return rows.filter(({ values }) => values[0] !== "");
}

/** The part of a query that is the same for every list. */
export function queryOf({ found, unsettled, signal }: Reading, range: DateRange): StatisticsQuery {
  const libraryTypes = new Set([found.libraryType]);
  return { packages: [found.id], libraryTypes, pixels: [], range, filters: [], unsettled, signal };
}

export function listNamed(name: string): StatisticsList {
  const list = STATISTICS_LISTS.find((each) => each.name === name);
  if (list === undefined) throw new Error(`there is no list ${name}`);
  return list;
}

function wholeDays(days: number, now: Date): DateRange {
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  return { startDate: dateAt(Math.max(0, today - days * DAY_MS)), endDate: dateAt(today) };
}
