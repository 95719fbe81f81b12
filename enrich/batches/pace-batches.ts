import type { Queue } from "../../schemas/records/event-log.js";

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
 * Express: 4 MiB, about 18,000 events, because the next import waits; smaller ones take hardly less time.
 * Bulk: 24 MiB, about 110,000 events, because each insert costs a part in every table; a slow machine must
 * still end one well within the 20 s of a drain.
 */
const LIMITS: Record<Queue, Limits> = {
  express: { targetMs: 500, bytesMin: 4 * MIB, bytesMax: 4 * MIB },
  bulk: { targetMs: 8_000, bytesMin: 4 * MIB, bytesMax: 24 * MIB },
};
/** One quick batch proves little. */
const GROWTH_MAX = 2;

/** Begins with the largest batches: they are slow only on a slow machine, and only once. */
export function openPace(queue: Queue): Pace {
  const { targetMs, bytesMin, bytesMax: largest } = LIMITS[queue];
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
