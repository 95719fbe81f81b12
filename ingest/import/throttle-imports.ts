import { pause, type PauseOptions } from "../../schemas/async/pause.js";
import { formatBytes } from "../../schemas/formats.js";
import { Problem } from "../../schemas/problem.js";

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
  pause?: (ms: number, options?: PauseOptions) => Promise<unknown>;
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
  while (now() < until && exceeds(waiting, RECORDS_MAX)) await wait(BACKLOG_PROBE_MS);
}

function exceeds(read: () => number, max: number): boolean {
  try {
    return read() > max;
  } catch {
    return false;
  }
}

/** A look takes a tenth of a millisecond, and a hundred uploads may wait. */
const ROOM_PROBE_MS = 100;
const ROOM_MS_MAX = 120_000;
const ROOM_RETRY_SECONDS = 60;

interface RoomDependencies extends Omit<BacklogDependencies, "waiting"> {
  /** Bytes of the owner that wait for enrichment. Throws where the log cannot be read. */
  unconsumed: () => Promise<number>;
  bytesMax: number;
  signal: AbortSignal;
}

/**
 * Waits while more of an owner's lines wait for enrichment than may: packed, they come faster than they are
 * enriched. @throws Problem unavailable after two minutes, and the reason of the signal
 */
export async function awaitRoom({
  unconsumed,
  bytesMax,
  signal,
  now = () => performance.now(),
  pause: wait = pause,
}: RoomDependencies): Promise<void> {
  const until = now() + ROOM_MS_MAX;
  while ((await unconsumed().catch(() => 0)) > bytesMax) {
    signal.throwIfAborted();
    if (now() >= until) throw noRoom(bytesMax);
    await wait(ROOM_PROBE_MS, { signal });
  }
}

function noRoom(bytesMax: number): Problem {
  return new Problem(
    "unavailable",
    `More than ${formatBytes(bytesMax)} of this owner's imports are waiting for enrichment. Try again later.`,
    { retryAfterSeconds: ROOM_RETRY_SECONDS },
  );
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
