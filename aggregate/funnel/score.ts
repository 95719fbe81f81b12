import type { ArtifactKind } from "../../schemas/records/artifact.js";
import type { Importance } from "../../schemas/records/funnel.js";

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
