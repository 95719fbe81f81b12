import { setTimeout as sleep } from "node:timers/promises";

const PAUSE_MS = 1;
/** A pause that ends later than this says that others have work for this thread. */
const LATE_MS = 2;
const PAUSES_MAX = 20;

/**
 * Lets shorter work that waits for this thread go first: resolves when a short pause ended in time, or after twenty
 * that did not, for what gives way goes on as well.
 */
export async function giveWay(): Promise<void> {
  for (let pause = 0; pause < PAUSES_MAX; pause++) {
    const startedAt = performance.now();
    await sleep(PAUSE_MS);
    if (performance.now() - startedAt < PAUSE_MS + LATE_MS) return;
  }
}
