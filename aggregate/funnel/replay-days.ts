import { DAY_MS, dateAt } from "../../schemas/date-range.js";
import type { ActiveDay, PastChange, StageBefore, StageFacts } from "../../schemas/records/funnel.js";
import { NEVER_SEEN, POINTS_MAX, classify, isEngaged } from "./decide-company.js";

/** Days in a window of the rules, its last day included. */
const WINDOW = 30;
/** No rule looks further back. After so many days without activity nothing changes until the next one. */
const REACH = 3 * WINDOW;
const VIEWS_REACH = 2 * WINDOW;

/** The changes of a company's stage at the end of each day before `until`, from all days of its activity, in order. */
export function replayDays(active: readonly ActiveDay[], until: string): PastChange[] {
  const days = active.map((day) => ({ ...day, at: dayNumber(day.date) }));
  const end = dayNumber(until);
  const changes: PastChange[] = [];
  let before: StageBefore = NEVER_SEEN;
  let oldest = 0;
  let next = 0;
  for (let today = days[0]?.at ?? end; today < end; today += 1) {
    while ((days[next]?.at ?? Infinity) <= today) next += 1;
    while (oldest < next && today - (days[oldest]?.at ?? 0) >= REACH) oldest += 1;
    const placed = classify(factsOn(today, days.slice(oldest, next)), before);
    if (placed !== undefined && placed.stage !== before.stage) {
      changes.push({ date: dateAt(today * DAY_MS), newStage: placed.stage, cause: placed.cause });
      before = { stage: placed.stage, engaged: before.engaged || isEngaged(placed.stage) };
    }
    if (oldest === next) today = (days[next]?.at ?? end) - 1;
  }
  return changes;
}

interface NumberedDay extends ActiveDay {
  at: number;
}

/** What `company-facts.sql` finds, of the days that a rule reaches. */
function factsOn(today: number, days: readonly NumberedDay[]): StageFacts {
  const within = (from: number, to: number) => days.filter(({ at }) => today - at >= from && today - at < to);
  const recent = within(0, WINDOW);
  const viewed = within(0, VIEWS_REACH).filter(({ views }) => views > 0);
  const weeks = new Set(viewed.map(({ at }) => weekOf(at)));
  const sum = (points: (day: NumberedDay) => number) => recent.reduce((all, day) => all + points(day), 0);
  return {
    score:
      Math.min(
        POINTS_MAX.package.window,
        sum(({ downloadPoints }) => downloadPoints),
      ) +
      Math.min(
        POINTS_MAX.pixel.window,
        sum(({ viewPoints }) => viewPoints),
      ),
    downloadDays: recent.filter(({ downloads }) => downloads > 0).length,
    viewedLast30Days: recent.some(({ views }) => views > 0),
    viewedLast60Days: viewed.length > 0,
    viewedInConsecutiveWeeks: [...weeks].some((week) => weeks.has(week + 1)),
    activeWindows: [
      recent.length > 0,
      within(WINDOW, 2 * WINDOW).length > 0,
      within(2 * WINDOW, REACH).length > 0,
    ],
  };
}

function dayNumber(date: string): number {
  return Date.parse(date) / DAY_MS;
}

/** Weeks begin on Monday; 1970-01-01 was a Thursday. */
function weekOf(day: number): number {
  return Math.floor((day + 3) / 7);
}
