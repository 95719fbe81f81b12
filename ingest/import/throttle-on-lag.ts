import { pause } from "../../schemas/async/pause.js";

const PROBE_MS = 1;
/** A timer that fires this much later shows that the event loop lags. */
const LAG_MS_MIN = 2;
/** The longest wait for one chunk beside requests that never end. */
const THROTTLE_MS_MAX = 50;

export interface ThrottleDependencies {
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
}: ThrottleDependencies = {}): Promise<void> {
  const until = now() + THROTTLE_MS_MAX;
  let isWanted = true;
  while (isWanted && now() < until) {
    const due = now() + PROBE_MS;
    await wait(PROBE_MS);
    isWanted = isOtherBusy() || now() > due + LAG_MS_MIN;
  }
}
