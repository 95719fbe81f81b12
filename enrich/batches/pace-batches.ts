/** Sizes the next batch by how long the last ones took. */
export interface Pace {
  readonly bytesMax: number;
  onWritten(batch: { bytes: number; durationMs: number }): void;
}

/**
 * The counts of an import move with every batch, and people who wait for them want to see that once a second. Two
 * workers alternate, so each may take longer. Shorter batches cost throughput: an eighth at 900 ms.
 */
const TARGET_MS = 1_300;
/** About 4,000 events: each insert has a price of its own. */
const BYTES_MIN = 1024 * 1024;
/** About 60,000 events: blocks well above the size where ClickHouse's part count becomes the limit. */
const BYTES_MAX = 16 * 1024 * 1024;
/** One quick batch proves little. */
const GROWTH_MAX = 2;

/** Makes a batch take little more than a second on any machine. */
export function openPace(): Pace {
  let bytesMax = BYTES_MAX / 4;
  return {
    get bytesMax() {
      return bytesMax;
    },
    onWritten({ bytes, durationMs }) {
      const wanted = (bytes * TARGET_MS) / Math.max(durationMs, 1);
      // A batch that is small because the log had no more says nothing against larger ones.
      if (wanted < bytesMax && durationMs < TARGET_MS) return;
      bytesMax = Math.min(Math.max(wanted, BYTES_MIN), BYTES_MAX, bytesMax * GROWTH_MAX);
    },
  };
}
