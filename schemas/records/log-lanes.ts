/**
 * The two lanes of the event log. Short work goes on the express lane: live chunks, and the first chunks of each import.
 * The rest of large imports goes on the bulk lane. Enrichment consumes them side by side, so short work never waits
 * behind the backlog of large imports.
 */
export const LANES = ["express", "bulk"] as const;
export type Lane = (typeof LANES)[number];

const EXPRESS_SHARE = 1 / 4;

/**
 * The partitions of each lane: the first quarter is express. Records of any kind may be in any partition, such as those
 * of an earlier version; only new appends follow the lanes. A single partition is express, and takes everything.
 */
export function partitionsOf(lane: Lane, partitions: number): number[] {
  const express = Math.max(1, Math.floor(partitions * EXPRESS_SHARE));
  const [first, end] = lane === "express" ? [0, express] : [express, partitions];
  return Array.from({ length: end - first }, (_, index) => first + index);
}
