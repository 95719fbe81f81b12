import {
  DAY_MS,
  type DateRange,
  RANGE_DAYS_MAX,
  addDays,
  dateAt,
  lastDays,
} from "../../../schemas/date-range.js";
import type { Query } from "../address.js";
import { RANGE_LIMITS } from "../../../schemas/contracts/statistics.js";

/** Ranges that move on with the days: a bookmark of one shows others tomorrow. */
export const PRESETS = [
  { address: { days: "7" }, label: "7 days", key: "7" },
  { address: { days: "30" }, label: "30 days", key: "3" },
  { address: { days: "90" }, label: "90 days", key: "9" },
  { address: { days: "365" }, label: "12 months", key: "y" },
  { address: { month: "current" }, label: "This month", key: "m" },
  { address: { month: "previous" }, label: "Last month", key: "l" },
] as const;

export type Preset = (typeof PRESETS)[number];

/** The parameters of a page's address that choose its days; for `linkWith`, without any of them. */
export const NO_RANGE = {
  days: undefined,
  month: undefined,
  startDate: undefined,
  endDate: undefined,
  lastDate: undefined,
};

/** The parameters of an address that choose its days, for another page. */
export function rangeIn(query: URLSearchParams): Query {
  return Object.fromEntries(Object.keys(NO_RANGE).map((name) => [name, query.get(name) || undefined]));
}

/** `days=30` and `month=current` move on; `startDate` with `lastDate`, or with the `endDate` of the API, do not. */
export function readRange(query: URLSearchParams, now: Date): DateRange {
  const days = Number(query.get("days"));
  if (Number.isInteger(days) && days > 0 && days <= RANGE_DAYS_MAX) return lastDays(days, now);
  const month = query.get("month");
  if (month === "current") return { startDate: monthAt(now, 0), endDate: lastDays(1, now).endDate };
  if (month === "previous") return { startDate: monthAt(now, -1), endDate: monthAt(now, 0) };
  const usual = lastDays(RANGE_LIMITS.daysDefault, now);
  const last = query.get("lastDate");
  return {
    startDate: query.get("startDate") || usual.startDate,
    endDate: query.get("endDate") || (last ? dayAfter(last) : usual.endDate),
  };
}

/** The preset that the address names; without a range it is the usual one. */
export function presetOf(query: URLSearchParams): Preset | undefined {
  if (Object.keys(NO_RANGE).every((name) => !query.get(name))) return PRESETS[1];
  return PRESETS.find(({ address }) =>
    Object.entries(address).every(([name, value]) => query.get(name) === value),
  );
}

export function lastDayOf({ startDate, endDate }: DateRange): string {
  return endDate > startDate ? addDays(endDate, -1) : startDate;
}

/** The last day of a range can still grow. */
export function isRunning({ endDate }: Pick<DateRange, "endDate">): boolean {
  return endDate > dateAt(Date.now());
}

function monthAt(now: Date, offset: number): string {
  return dateAt(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset, 1));
}

/** A text that is no date stays as it is: the API says what is wrong with it. */
function dayAfter(date: string): string {
  const time = Date.parse(date) + DAY_MS;
  return Number.isNaN(time) ? date : dateAt(time);
}
