import { addDays } from "../../../schemas/date-range.js";
import { isCalendarDate } from "../../../schemas/formats.js";
import { type Count, type Counter, UnexpectedAnswer } from "./registries/registry.js";

interface Known {
  today: string;
  /** Of the days that one count stands for, where it is not one. */
  windowDays?: number | undefined;
  /** The last date that has a count. */
  lastDate?: string | undefined;
}

/**
 * Whole days only, because today is not over: each once, with the sum of what the registry says of it. Of overlapping
 * windows the later ones are left out.
 * @throws UnexpectedAnswer for a date that is not in the calendar
 */
export function daysOf(counts: readonly Count[], { today, windowDays = 1, lastDate }: Known): Count[] {
  const days = new Map<string, Count>();
  for (const count of counts) {
    const { date, version, metric, value } = count;
    if (!isCalendarDate(date)) throw new UnexpectedAnswer(`${date} is not a date.`);
    if (date >= today) continue;
    const overlaps = lastDate !== undefined && date > lastDate && date < addDays(lastDate, windowDays);
    if (overlaps) continue;
    const key = JSON.stringify([date, version, metric]);
    days.set(key, { ...count, value: value + (days.get(key)?.value ?? 0) });
  }
  return [...days.values()];
}

/** Each counter once: a registry that names one twice means the last. */
export function distinctCounters(counters: readonly Counter[]): Counter[] {
  return [...new Map(counters.map((counter) => [counter.key, counter])).values()];
}
