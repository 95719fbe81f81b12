import { pause } from "../../schemas/async/pause.js";

const BACKLOG_PROBE_MS = 20;
/** As many records as a batch of the express queue takes. */
const RECORDS_MAX = 8;
/** Sixteen uploads of one owner then send 32 MiB a second, which takes a tenth of a core. */
const BACKLOG_MS_MAX = 250;

export interface BacklogDependencies {
  /** Records of the express queue that wait for enrichment. Throws where the log cannot be read. */
  waiting: () => number;
  /** In milliseconds; only differences count. */
  now?: () => number;
  pause?: (ms: number) => Promise<unknown>;
}

/**
 * Waits while more than a batch of short work waits for enrichment, for 250 ms at most: many uploads, which
 * have a higher priority, would leave it no processor time. Does not wait for a log that cannot be read.
 */
export async function throttleOnBacklog({
  waiting,
  now = () => performance.now(),
  pause: wait = pause,
}: BacklogDependencies): Promise<void> {
  const until = now() + BACKLOG_MS_MAX;
  while (now() < until && isBehind(waiting)) await wait(BACKLOG_PROBE_MS);
}

function isBehind(waiting: () => number): boolean {
  try {
    return waiting() > RECORDS_MAX;
  } catch {
    return false;
  }
}

const LAG_PROBE_MS = 1;
/** A timer that fires this much later shows that the event loop lags. */
const LAG_MS_MIN = 2;
/** The longest wait for one chunk beside requests that never end. */
const LAG_MS_MAX = 50;

interface LagDependencies {
  /** In milliseconds; only differences count. */
  now?: () => number;
  pause?: (ms: number) => Promise<unknown>;
  /** Whether another thread that answers requests had no idle moment since the last call. */
  isOtherBusy?: () => boolean;
}

/** Waits while this event loop lags or another is busy, for 50 ms at most: other requests are served first. */
export async function throttleOnLag({
  now = () => performance.now(),
  pause: wait = pause,
  isOtherBusy = () => false,
}: LagDependencies = {}): Promise<void> {
  const until = now() + LAG_MS_MAX;
  let isWanted = true;
  while (isWanted && now() < until) {
    const due = now() + LAG_PROBE_MS;
    await wait(LAG_PROBE_MS);
    isWanted = isOtherBusy() || now() > due + LAG_MS_MIN;
  }
}
