import { storableDate, type DateRange } from "../../schemas/date-range.js";

/** As a query's parameters `start` and `end`. */
export function storableRange({ startDate, endDate }: DateRange): { start: string; end: string } {
  return { start: storableDate(startDate), end: storableDate(endDate) };
}
