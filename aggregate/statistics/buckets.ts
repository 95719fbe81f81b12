import type { Interval } from "../../schemas/contracts/statistics.js";
import { dateAt, daysBetween, DAY_MS, type DateRange } from "../../schemas/date-range.js";

/** The first day of the bucket of `date` within the range, or the hour of `time`. Weeks begin on Monday (ISO 8601). */
export function bucketSql(interval: Interval, start: string): string {
  if (interval === "hour") return "formatDateTime(time, '%FT%H', 'UTC')";
  if (interval === "day") return "date";
  return `greatest(${interval === "week" ? "toMonday(date)" : "toStartOfMonth(date)"}, {${start}:Date})`;
}

/** Days as `YYYY-MM-DD`, hours as `YYYY-MM-DDTHH`. */
export function bucketsOf({ startDate, endDate }: DateRange, interval: Interval): string[] {
  const days = daysBetween(startDate, endDate);
  const dates = Array.from({ length: days }, (_, day) => new Date(Date.parse(startDate) + day * DAY_MS));
  if (interval === "hour")
    return dates.flatMap((date) => HOURS.map((hour) => `${dateAt(date.getTime())}T${hour}`));
  return dates
    .filter((date, index) => index === 0 || BEGINS[interval](date))
    .map((date) => dateAt(date.getTime()));
}

const HOURS = Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, "0"));

const MONDAY = 1;

const BEGINS: Readonly<Record<Exclude<Interval, "hour">, (date: Date) => boolean>> = {
  day: () => true,
  week: (date) => date.getUTCDay() === MONDAY,
  month: (date) => date.getUTCDate() === 1,
};
