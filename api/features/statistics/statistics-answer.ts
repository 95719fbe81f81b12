import { bucketsOf } from "../../../aggregate/statistics/buckets.js";
import type { ListRow, RangeCounts, StatisticsRead } from "../../../aggregate/statistics/statistics-query.js";
import { STATISTICS_LISTS, type StatisticsList } from "../../../schemas/contracts/breakdowns.js";
import type {
  Interval,
  Statistics,
  StatisticsBucket,
  StatisticsRow,
  StatisticsTotals,
} from "../../../schemas/contracts/statistics.js";
import type { DateRange } from "../../../schemas/date-range.js";
import { changeOf } from "../../../schemas/contracts/statistics.js";
import type { StatisticsAsked } from "./statistics-asked.js";

/** The measure of a list: statistics of pixels alone count views in every list. */
export function measureOf(
  { counts }: StatisticsList,
  { packages }: { packages: readonly string[] },
): StatisticsList["counts"] {
  return packages.length === 0 ? "views" : counts;
}

export function statisticsAnswer(
  { range, before, compared, interval }: Pick<StatisticsAsked, "range" | "before" | "compared" | "interval">,
  {
    completeThrough,
    eventsFrom,
    scope,
    read,
  }: {
    completeThrough: string;
    eventsFrom?: string | undefined;
    scope: { packages: readonly string[] };
    read: StatisticsRead;
  },
): Statistics {
  const totals = totalsOf(read.now);
  const lists = STATISTICS_LISTS.map((list) => {
    const measure = measureOf(list, scope);
    const rows = read.lists.get(list.name) ?? [];
    return [list.name, rows.map((row) => rowOf(row, { list, measure, total: totals[measure] }))] as const;
  });
  return {
    ...periodOf(range),
    interval,
    complete_through: completeThrough,
    ...(eventsFrom !== undefined && { events_from: eventsFrom }),
    totals,
    ...(before !== undefined &&
      read.before !== undefined && {
        compare: {
          ...periodOf(before),
          ...(compared !== undefined &&
            read.compared !== undefined && {
              of: { ...periodOf(compared), totals: totalsOf(read.compared) },
            }),
          totals: totalsOf(read.before),
          series: seriesOf(read.before, { range: before, interval }),
        },
      }),
    series: seriesOf(read.now, { range, interval }),
    breakdowns: Object.fromEntries(lists),
  };
}

/** The first day with numbers, where some come from events that are no longer kept; see `readerOf` of the statistics. */
export function eventsFromIn(
  { range, before, filters }: Pick<StatisticsAsked, "range" | "before" | "filters">,
  {
    scope,
    eventsFrom,
    readsEvents = false,
  }: {
    scope: { pixels: readonly string[] };
    eventsFrom: string | undefined;
    /** Also without filters and pixels. */
    readsEvents?: boolean;
  },
): string | undefined {
  const isMissing = [range, ...(before === undefined ? [] : [before])].some(
    ({ startDate }) => startDate < (eventsFrom ?? ""),
  );
  const isRead = readsEvents || filters.length > 0 || scope.pixels.length > 0;
  return isRead && isMissing ? eventsFrom : undefined;
}

export function periodOf({ startDate, endDate }: DateRange): { start_date: string; end_date: string } {
  return { start_date: startDate, end_date: endDate };
}

/** A row of a list; fields that may be absent are absent if they are empty. */
export function rowOf(
  { values, count, compared, before }: ListRow,
  { list, measure, total }: { list: StatisticsList; measure: StatisticsList["counts"]; total: number },
): StatisticsRow {
  const fields = list.values.flatMap(({ field, optional }, index) => {
    const value = values[index] ?? "";
    return optional === true && value === "" ? [] : [[field, value] as const];
  });
  return {
    ...Object.fromEntries(fields),
    [measure]: count,
    share: total === 0 ? 0 : count / total,
    change: changeOf(compared, before),
  };
}

function totalsOf({
  totals: { downloads, views, addresses, companies },
}: Pick<RangeCounts, "totals">): StatisticsTotals {
  return { downloads, views, unique_addresses: addresses, companies };
}

const DATE_LENGTH = "YYYY-MM-DD".length;

export function seriesOf(
  { buckets }: RangeCounts,
  { range, interval }: { range: DateRange; interval: Interval },
): StatisticsBucket[] {
  return bucketsOf(range, interval).map((bucket) => {
    const { downloads = 0, views = 0, addresses = 0 } = buckets.get(bucket) ?? {};
    return {
      date: bucket.slice(0, DATE_LENGTH),
      ...(interval === "hour" && { time: `${bucket}:00:00.000000Z` }),
      downloads,
      views,
      unique_addresses: addresses,
    };
  });
}
