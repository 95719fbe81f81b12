import type { DateRange } from "../schemas/date-range.js";

const FIRST_DAY = "1970-01-01";
const LAST_DAY = "2149-06-06";

/** Any calendar date may be asked for; ClickHouse's `Date`, and so every event, lies between these. */
export function storableRange({ startDate, endDate }: DateRange): { start: string; end: string } {
  return { start: storable(startDate), end: storable(endDate) };
}

function storable(date: string): string {
  if (date < FIRST_DAY) return FIRST_DAY;
  return date > LAST_DAY ? LAST_DAY : date;
}
