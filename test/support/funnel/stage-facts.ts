import type { ArtifactKind } from "../../../schemas/records/artifact.js";
import type { StageFacts, Importance } from "../../../schemas/records/funnel.js";
import { POINTS, POINTS_MAX } from "../../../aggregate/funnel/decide-company.js";

const VIEW_DAYS = 60;

/**
 * The facts that the rules for stages ask for, from a company's whole activity with an owner, on `today` (days since
 * 1970-01-01); later activity is ignored. `company-facts.sql` computes the same; a property test compares the two.
 */
export function stageFacts(activity: readonly DayActivity[], today: number): StageFacts {
  const ages = (kind: ArtifactKind) =>
    activity
      .filter((each) => each.kind === kind && each.total > 0 && each.day <= today)
      .map(({ day }) => today - day);
  const downloads = ages("package");
  const views = ages("pixel");
  const weeks = new Set(views.filter((age) => age < VIEW_DAYS).map((age) => weekOf(today - age)));
  return {
    score: score(activity, today),
    downloadDays: new Set(downloads.filter((age) => age < WINDOW_DAYS)).size,
    viewedLast30Days: views.some((age) => age < WINDOW_DAYS),
    viewedLast60Days: views.some((age) => age < VIEW_DAYS),
    viewedInConsecutiveWeeks: [...weeks].some((week) => weeks.has(week + 1)),
    activeWindows: [0, 1, 2].map((nth) =>
      [...downloads, ...views].some((age) => Math.floor(age / WINDOW_DAYS) === nth),
    ) as [boolean, boolean, boolean],
  };
}

/** Weeks begin on Monday; 1970-01-01 was a Thursday. */
function weekOf(day: number): number {
  return Math.floor((day + 3) / 7);
}

/** Downloads of one package or views of one pixel by a company on a day. */
export interface DayActivity {
  /** In days since 1970-01-01. */
  day: number;
  kind: ArtifactKind;
  importance: Importance;
  total: number;
}

/** Days in a window, its last day included. */
const WINDOW_DAYS = 30;

/**
 * The points of a company with an owner in the 30 days that end with `today`. `company-facts.sql` computes the same; a
 * property test compares the two.
 */
export function score(activity: readonly DayActivity[], today: number): number {
  const recent = activity.filter(({ day }) => day <= today && today - day < WINDOW_DAYS);
  return scoreOf("package", recent) + scoreOf("pixel", recent);
}

function scoreOf(wanted: ArtifactKind, activity: readonly DayActivity[]): number {
  const days = new Map<number, number>();
  for (const { day, kind, importance, total } of activity) {
    if (kind === wanted) days.set(day, (days.get(day) ?? 0) + total * POINTS[kind][importance]);
  }
  const most = POINTS_MAX[wanted];
  const points = [...days.values()].reduce((sum, ofDay) => sum + Math.min(most.day, ofDay), 0);
  return Math.min(most.window, points);
}
