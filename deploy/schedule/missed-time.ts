import { parse, type ScheduledTask } from "node-cron";

/** Looking further back would take longer than it is worth: a minute takes 12 µs. */
const MINUTES_MAX = 32 * 24 * 60;
const MINUTE_MS = 60_000;

/**
 * The latest time of a schedule, in whole seconds, after `after` and until `now`: what nobody did while nothing ran.
 * Undefined where there is none, also for one longer ago than 32 days. Of a schedule that has several times in a
 * minute, its first in that minute.
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
