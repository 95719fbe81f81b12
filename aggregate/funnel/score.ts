import type { ArtifactKind } from "../../schemas/records/artifact.js";
import type { Importance } from "../../schemas/records/funnel.js";

/** What a company did with one package or pixel on a day: downloads or views, by the kind. */
export interface DayActivity {
  /** In days since 1970-01-01. */
  day: number;
  kind: ArtifactKind;
  importance: Importance;
  total: number;
}

/** Of one download of a package, and of one view of a pixel. */
export const POINTS: Readonly<Record<ArtifactKind, Readonly<Record<Importance, number>>>> = {
  package: { low: 2, medium: 5, high: 8 },
  pixel: { low: 0.25, medium: 0.5, high: 1 },
};

/**
 * The most points that count. They are a company's, over all that the owner has: importance says how soon they are
 * reached, and 70, the most that there is, is what ongoing usage asks for.
 */
export const POINTS_MAX = {
  package: { day: 10, window: 50 },
  pixel: { day: 3, window: 20 },
} as const;

/** How many days a window has, the day that is looked at included. */
export const WINDOW_DAYS = 30;

/**
 * The points of a company with an owner in the 30 days that end with `today`. `company-facts.sql` counts the same; a
 * property test holds the two to each other.
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
