import { DAY_MS, type DateRange, dateAt } from "../../../schemas/date-range.js";

export type Unit = "day" | "week" | "month";

/** How many periods that are over are made up for, or looked at again for a correction. */
const LOOKED_AT: Record<Unit, number> = { day: 7, week: 4, month: 2 };

/** Live downloads of the last moments are enriched by then. */
const REST_MS = 10 * 60_000;

/** The last periods that are over, oldest first, in UTC. Weeks begin on Monday. */
export function lastPeriods(unit: Unit, now: Date): DateRange[] {
  const periods: DateRange[] = [];
  let end = startOf(unit, now.getTime() - REST_MS);
  for (let nth = 0; nth < LOOKED_AT[unit]; nth += 1) {
    const start = startOf(unit, end - 1);
    periods.unshift({ startDate: dateAt(start), endDate: dateAt(end) });
    end = start;
  }
  return periods;
}

/** The last of them. */
export function lastPeriod(unit: Unit, now: Date): DateRange {
  return lastPeriods(unit, now).at(-1)!;
}

/** The period of the same kind that ends where this one begins. */
export function periodBefore(unit: Unit, { startDate }: DateRange): DateRange {
  return { startDate: dateAt(startOf(unit, Date.parse(startDate) - 1)), endDate: startDate };
}

function startOf(unit: Unit, time: number): number {
  const day = Math.floor(time / DAY_MS) * DAY_MS;
  const date = new Date(day);
  if (unit === "month") return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
  return unit === "week" ? day - ((date.getUTCDay() + 6) % 7) * DAY_MS : day;
}

/** Whether it ended after `since`, and everything of it that was received is in the numbers. */
export function isDue(
  { endDate }: DateRange,
  { since, completeThrough }: { since: Date; completeThrough: string },
): boolean {
  return Date.parse(endDate) > since.getTime() && completeThrough >= `${endDate}T00:00:00`;
}
