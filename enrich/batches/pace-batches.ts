/** How large the next batch may be, as the last ones tell. */
export interface Pace {
  readonly bytesMax: number;
  /** Told of every batch that was written. */
  took(batch: { bytes: number; durationMs: number }): void;
}

/**
 * Counts of an import move with every batch, and whoever waits for them wants to see that once a second. Two workers
 * take turns in that, so each may take longer; shorter batches cost throughput (an eighth at 900 ms).
 */
const TARGET_MS = 1_300;
/** About 4,000 events: an insert has a price of its own, and many small ones cost more than they show. */
const BYTES_MIN = 1024 * 1024;
/** About 60,000 events: blocks well above the size where ClickHouse's part count becomes the limit. */
const BYTES_MAX = 16 * 1024 * 1024;
/** One quick batch proves little. */
const GROWTH_MAX = 2;

/** Sizes batches so that one takes little more than a second on whatever this runs on. */
export function openPace(): Pace {
  let bytesMax = BYTES_MAX / 4;
  return {
    get bytesMax() {
      return bytesMax;
    },
    took({ bytes, durationMs }) {
      const wanted = (bytes * TARGET_MS) / Math.max(durationMs, 1);
      // A batch that was small because there was no more to read says nothing against larger ones.
      if (wanted < bytesMax && durationMs < TARGET_MS) return;
      bytesMax = Math.min(Math.max(wanted, BYTES_MIN), BYTES_MAX, bytesMax * GROWTH_MAX);
    },
  };
}
