import { pause } from "../../../../schemas/async/pause.js";
import type { Gather } from "../../../../schemas/records/event-log.js";

/** So many records are a batch that is worth its price: more are not waited for. */
const GATHERED_MAX = 64;

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
  { quietMs, mostMs }: Gather,
  { waiting, signal, now = () => performance.now(), wait = pause }: GatherDependencies,
): Promise<void> {
  const until = now() + mostMs;
  let before = 0;
  for (let count = waiting(); count > before && count < GATHERED_MAX; count = waiting()) {
    const left = until - now();
    if (left <= 0 || signal.aborted) return;
    before = count;
    await wait(Math.min(quietMs, left), { signal });
  }
}
