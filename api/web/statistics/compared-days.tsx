import { type Statistics, type StatisticsTotals, changeOf } from "../../../schemas/contracts/statistics.js";
import type { DateRange } from "../../../schemas/date-range.js";
import { formatDays } from "../parts/format.js";
import { isRunning, lastDayOf } from "./page-range.js";

/** How a total of the range changed, over the days that are compared. Undefined where nothing is. */
export function changeIn(
  { totals, compare }: Pick<Statistics, "totals" | "compare">,
  name: keyof StatisticsTotals,
): number | null | undefined {
  return compare && changeBetween((compare.of?.totals ?? totals)[name], compare.totals[name]);
}

/** For people: nothing against nothing is no change. The API has null, as for everything against nothing. */
export function changeBetween(now: number, before: number): number | null {
  return now === 0 && before === 0 ? 0 : changeOf(now, before);
}

type Answered = Pick<Statistics, "start_date" | "end_date" | "interval" | "compare">;

/** Which days the changes of a page compare. Nothing where none are compared. */
export function ComparedDays({ statistics }: { statistics: Answered }) {
  const { compare, interval } = statistics;
  if (compare === undefined) return null;
  const range = rangeOf(compare.of ?? statistics);
  const isCut = interval === "hour" && isRunning(range);
  return (
    <p class="soft small">
      Compared with {daysOf(rangeOf(compare))}
      {isCut && ", up to the same time of day"}.
      {compare.of !== undefined && " Today is excluded until it ends."}
    </p>
  );
}

function rangeOf({
  start_date: startDate,
  end_date: endDate,
}: {
  start_date: string;
  end_date: string;
}): DateRange {
  return { startDate, endDate };
}

function daysOf(range: DateRange): string {
  return formatDays(range.startDate, lastDayOf(range));
}
