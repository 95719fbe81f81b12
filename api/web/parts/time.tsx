import { formatDate, formatTime } from "./format.js";

/** A timestamp of the API as people say it, on one line, and exactly when it is pointed at. */
export function Time({ at, now = Date.now() }: { at: string; now?: number }) {
  return (
    <time class="one-line" dateTime={at} title={formatTime(at)}>
      {formatAge(at, now)}
    </time>
  );
}

const RELATIVE = new Intl.RelativeTimeFormat("en");
/** Each until the next, in seconds. */
const UNITS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;
const DAYS_MAX = 7;

/** 3 minutes ago, in 2 hours; a date where it is more than a week away. */
export function formatAge(at: string, now: number): string {
  const seconds = (Date.parse(at) - now) / 1000;
  if (Math.abs(seconds) >= DAYS_MAX * 86_400) return formatDate(at.slice(0, 10));
  const [unit, size] = UNITS.find(([, least]) => Math.abs(seconds) >= least) ?? [];
  return unit === undefined ? "just now" : RELATIVE.format(Math.trunc(seconds / size), unit);
}
