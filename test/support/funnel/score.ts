import { POINTS, POINTS_MAX } from "../../../aggregate/funnel/score.js";
import type { ArtifactKind } from "../../../schemas/records/artifact.js";
import type { Importance } from "../../../schemas/records/funnel.js";

/** Downloads of one package or views of one pixel by a company on a day. */
export interface DayActivity {
  /** In days since 1970-01-01. */
  day: number;
  kind: ArtifactKind;
  importance: Importance;
  total: number;
}

/** Days in a window, its last day included. */
export const WINDOW_DAYS = 30;

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
