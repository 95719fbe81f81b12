import type { ArtifactKind } from "../../schemas/records/artifact.js";
import type { Importance } from "../../schemas/records/funnel.js";

/** Downloads of one package or views of one pixel by a company on a day. */
export interface DayActivity {
  /** In days since 1970-01-01. */
  day: number;
  kind: ArtifactKind;
  importance: Importance;
  total: number;
}

/** For one download of a package, and for one view of a pixel. */
export const POINTS: Readonly<Record<ArtifactKind, Readonly<Record<Importance, number>>>> = {
  package: { low: 2, medium: 5, high: 8 },
  pixel: { low: 0.25, medium: 0.5, high: 1 },
};

/**
 * The most points that count for a company, over all packages or all pixels of an owner. Together they are 70, the score
 * of ongoing usage; importance decides how soon they are reached.
 */
export const POINTS_MAX = {
  package: { day: 10, window: 50 },
  pixel: { day: 3, window: 20 },
} as const;

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
