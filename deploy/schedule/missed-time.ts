import { parse, type ScheduledTask } from "node-cron";

/** Bounds the search, which takes 12 µs a minute. */
const MINUTES_MAX = 32 * 24 * 60;
const MINUTE_MS = 60_000;

/**
 * The latest time of a schedule after `after` and up to `now`, in whole seconds. Undefined when there is none in the
 * last 32 days. When a schedule has several times in a minute, only the first of them is found.
 */
export function missedTime(
  task: Pick<ScheduledTask, "match" | "getPattern">,
  { after, now }: { after: Date; now: Date },
): Date | undefined {
  const [second = 0] = parse(task.getPattern()).second;
  const latest = Math.floor((now.getTime() - second * 1000) / MINUTE_MS) * MINUTE_MS + second * 1000;
  for (let minute = 0; minute < MINUTES_MAX; minute += 1) {
    const time = latest - minute * MINUTE_MS;
    if (time <= after.getTime()) return undefined;
    if (task.match(new Date(time))) return new Date(time);
  }
  return undefined;
}
