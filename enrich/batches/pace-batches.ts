import type { Lane } from "../../schemas/records/log-lanes.js";

/** Sizes the next batch by how long the last ones took. */
export interface Pace {
  readonly bytesMax: number;
  onWritten(batch: { bytes: number; durationMs: number }): void;
}

interface Limits {
  /** A batch takes little more than this on any machine. */
  targetMs: number;
  bytesMin: number;
  bytesMax: number;
}

const MIB = 1024 * 1024;

/**
 * Express batches are small: whoever comes next waits for one of them. Bulk batches are large, because each insert costs
 * ClickHouse a part in every table and the merges of it; progress shows once per batch. 1 MiB is about 4,000 events.
 */
const LIMITS: Record<Lane, Limits> = {
  express: { targetMs: 500, bytesMin: MIB, bytesMax: 4 * MIB },
  bulk: { targetMs: 2_500, bytesMin: 4 * MIB, bytesMax: 32 * MIB },
};
/** One quick batch proves little. */
const GROWTH_MAX = 2;

/** Begins with the largest batches: they are slow only on a slow machine, and only once. */
export function openPace(lane: Lane): Pace {
  const { targetMs, bytesMin, bytesMax: largest } = LIMITS[lane];
  let bytesMax = largest;
  return {
    get bytesMax() {
      return bytesMax;
    },
    onWritten({ bytes, durationMs }) {
      const wanted = (bytes * targetMs) / Math.max(durationMs, 1);
      // A batch that is small because the log had no more says nothing against larger ones.
      if (wanted < bytesMax && durationMs < targetMs) return;
      bytesMax = Math.min(Math.max(wanted, bytesMin), largest, bytesMax * GROWTH_MAX);
    },
  };
}
