import { pause } from "../../../../schemas/async/pause.js";
import type { Gather } from "../../../../schemas/records/event-log.js";

/** So many records are a batch that is worth its price: more are not waited for. */
const GATHERED_MAX = 64;
/** How often to look while more records are known to arrive. */
const ARRIVING_STEP_MS = 5;

export interface GatherDependencies {
  /** How many records wait now. */
  waiting: () => number;
  signal: AbortSignal;
  /** In milliseconds; only differences count. */
  now?: () => number;
  wait?: typeof pause;
}

/** Resolves when a batch may begin: at once where nothing waits, and else when no more records come. */
export async function gatherRecords(
  { quietMs, mostMs, arriving }: Gather,
  { waiting, signal, now = () => performance.now(), wait = pause }: GatherDependencies,
): Promise<void> {
  const until = now() + mostMs;
  let stepMs = quietMs;
  let before = 0;
  for (let count = waiting(); count > 0 && count < GATHERED_MAX; count = waiting()) {
    const isArriving = (arriving?.value ?? 0) > 0;
    const left = until - now();
    if ((count === before && !isArriving) || left <= 0 || signal.aborted) return;
    if (isArriving) stepMs = ARRIVING_STEP_MS;
    before = count;
    await wait(Math.min(stepMs, left), { signal });
  }
}
