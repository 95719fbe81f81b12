import { isCalendarDate } from "./formats.js";
import { Problem } from "./problem.js";

/** UTC days, `YYYY-MM-DD`: the first is included, the second excluded. */
export interface DateRange {
  startDate: string;
  endDate: string;
}

export const DAY_MS = 86_400_000;
/** The longest range of answers whose size does not grow with the number of events. */
export const RANGE_DAYS_MAX = 366;

/** The parameters of a query, which may be anything. */
interface AskedRange {
  readonly startDate?: unknown;
  readonly endDate?: unknown;
}

/** @throws Problem invalid-date, empty-range, range-too-long */
export function parseDateRange(query: AskedRange, { daysMax }: { daysMax: number }): DateRange {
  const startDate = parseDate(query, "startDate");
  const endDate = parseDate(query, "endDate");
  const days = (Date.parse(endDate) - Date.parse(startDate)) / DAY_MS;
  if (days === 0)
    throw new Problem(
      "empty-range",
      "startDate and endDate are equal, so the range is empty: endDate is exclusive. Use a later endDate.",
    );
  if (days < 0) throw new Problem("empty-range", "endDate must be after startDate.");
  if (days > daysMax)
    throw new Problem("range-too-long", `The range has ${days} days; the maximum is ${daysMax}.`);
  return { startDate, endDate };
}

export function parseOptionalDateRange(
  query: AskedRange,
  { daysMax, daysDefault, now }: { daysMax: number; daysDefault: number; now: Date },
): DateRange {
  const { startDate, endDate } = query;
  if (startDate !== undefined || endDate !== undefined) return parseDateRange(query, { daysMax });
  return lastDays(daysDefault, now);
}

export function lastDays(days: number, now: Date): DateRange {
  const tomorrow = Math.floor(now.getTime() / DAY_MS + 1) * DAY_MS;
  return { startDate: dateAt(tomorrow - days * DAY_MS), endDate: dateAt(tomorrow) };
}

export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);
}

/** Days after the date; before it where they are negative. */
export function addDays(date: string, days: number): string {
  return dateAt(Math.max(YEAR_0_MS, Date.parse(date) + days * DAY_MS));
}

/** Earlier dates have more than ten characters. */
const YEAR_0_MS = Date.parse("0000-01-01");

export function dateAt(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

function parseDate(query: AskedRange, name: keyof AskedRange): string {
  const text = query[name];
  if (typeof text !== "string")
    throw new Problem("invalid-date", `${name} must be given exactly once, in the form YYYY-MM-DD.`);
  if (!isCalendarDate(text))
    throw new Problem("invalid-date", `${name} must be a calendar date in the form YYYY-MM-DD.`);
  return text;
}

export const FIRST_DAY = "1970-01-01";
const LAST_DAY = "2149-06-06";

/** ClickHouse's `Date`, and so every event, lies between these. Requests may name any date. */
export function storableDate(date: string): string {
  if (date < FIRST_DAY) return FIRST_DAY;
  return date > LAST_DAY ? LAST_DAY : date;
}

/** As a query's parameters `start` and `end`. */
export function storableRange({ startDate, endDate }: DateRange): { start: string; end: string } {
  return { start: storableDate(startDate), end: storableDate(endDate) };
}
