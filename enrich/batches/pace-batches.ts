/** Sizes the next batch by how long the last ones took. */
export interface Pace {
  readonly bytesMax: number;
  onWritten(batch: { bytes: number; durationMs: number }): void;
}

/**
 * Progress shows once per batch, and people want to see it about once a second. Two workers alternate, so each batch
 * may take longer. 900 ms would cost an eighth of the throughput.
 */
const TARGET_MS = 1_300;
/** About 4,000 events. Smaller inserts cost too much each. */
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
