import type { Interval } from "../../schemas/contracts/statistics.js";
import { dateAt, DAY_MS, type DateRange } from "../../schemas/date-range.js";

/** The first day of the bucket of `date` within the range. Weeks begin on Monday (ISO 8601). */
export function bucketSql(interval: Interval, start: string): string {
  if (interval === "day") return "date";
  return `greatest(${interval === "week" ? "toMonday(date)" : "toStartOfMonth(date)"}, {${start}:Date})`;
}

export function bucketsOf({ startDate, endDate }: DateRange, interval: Interval): string[] {
  const days = (Date.parse(endDate) - Date.parse(startDate)) / DAY_MS;
  const dates = Array.from({ length: days }, (_, day) => new Date(Date.parse(startDate) + day * DAY_MS));
  return dates
    .filter((date, index) => index === 0 || BEGINS[interval](date))
    .map((date) => dateAt(date.getTime()));
}

const MONDAY = 1;

const BEGINS: Readonly<Record<Interval, (date: Date) => boolean>> = {
  day: () => true,
  week: (date) => date.getUTCDay() === MONDAY,
  month: (date) => date.getUTCDate() === 1,
};
