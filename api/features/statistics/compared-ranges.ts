import {
  type ComparedDay,
  type Comparison,
  type Interval,
  isComparedDay,
} from "../../../schemas/contracts/statistics.js";
import { DAY_MS, type DateRange, addDays, dateAt, daysBetween } from "../../../schemas/date-range.js";
import { Problem } from "../../../schemas/problem.js";

export interface Compared {
  /** The range to compare with. It never reaches into the range itself. Undefined: nothing is compared. */
  before?: DateRange | undefined;
  /** The days of the range that are compared; absent where all are. */
  compared?: DateRange | undefined;
  /** Later events of `before` are left out; absent where all of it counts. */
  beforeUntil?: Date | undefined;
}

interface ComparedBy {
  comparison: Comparison;
  interval: Interval;
  now: Date;
}

const MINUTE_MS = 60_000;

/**
 * By hour both ranges end at the same time of day. By day `previous` and `year` take whole ranges; the others leave out the
 * days that are not over, and move by whole weeks or to a day. @throws Problem invalid-query for a day that is too late
 */
export function comparedRanges(range: DateRange, { comparison, interval, now }: ComparedBy): Compared {
  if (comparison === "none") return { before: undefined };
  const isByHour = interval === "hour";
  const today = dateAt(now.getTime());
  const isWhole = comparison === "previous" || comparison === "year";
  const leavesToday = !isByHour && !isWhole && range.endDate > today;
  const compared = leavesToday ? { ...range, endDate: today } : range;
  if (compared.endDate <= compared.startDate) return { before: undefined };
  const before = isComparedDay(comparison)
    ? rangeFrom(comparison, compared)
    : RANGES_BEFORE[comparison](compared);
  const movedMs = daysBetween(before.startDate, range.startDate) * DAY_MS;
  const until = Math.floor((now.getTime() - movedMs) / MINUTE_MS) * MINUTE_MS;
  return {
    before,
    ...(leavesToday && { compared }),
    ...(isByHour && until < Date.parse(before.endDate) && { beforeUntil: new Date(until) }),
  };
}

const RANGES_BEFORE: Readonly<
  Record<Exclude<Comparison, "none" | ComparedDay>, (range: DateRange) => DateRange>
> = {
  previous: (range) => ({ startDate: addDays(range.startDate, -lengthOf(range)), endDate: range.startDate }),
  year: ({ startDate, endDate }) => {
    const yearBefore = sameDateOfYearBefore(startDate);
    const end = addDays(yearBefore, daysBetween(startDate, endDate));
    return { startDate: yearBefore, endDate: end < startDate ? end : startDate };
  },
  "previous-weekdays": (range) => movedBack(range, Math.ceil(lengthOf(range) / 7)),
  "year-weekdays": (range) => movedBack(range, Math.max(52, Math.ceil(lengthOf(range) / 7))),
};

function rangeFrom(startDate: string, range: DateRange): DateRange {
  const days = lengthOf(range);
  const endDate = addDays(startDate, days);
  if (endDate <= range.startDate) return { startDate, endDate };
  const latest = addDays(range.startDate, -days);
  throw new Problem(
    "invalid-query",
    `compare must be ${latest} or earlier, so that the ${days} compared days end before the range starts.`,
  );
}

function lengthOf({ startDate, endDate }: DateRange): number {
  return daysBetween(startDate, endDate);
}

function movedBack({ startDate, endDate }: DateRange, weeks: number): DateRange {
  return { startDate: addDays(startDate, -7 * weeks), endDate: addDays(endDate, -7 * weeks) };
}

/** 28 February for the 29th. */
function sameDateOfYearBefore(date: string): string {
  const year = String(Math.max(0, Number(date.slice(0, 4)) - 1)).padStart(4, "0");
  return date.endsWith("-02-29") ? `${year}-02-28` : `${year}${date.slice(4)}`;
}
