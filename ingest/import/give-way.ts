import { setTimeout as sleep } from "node:timers/promises";

const PAUSE_MS = 1;
/** A pause that ends so much later says that others have work for this thread. */
const LATE_MS = 2;
/** Beside others that never stop, an upload still brings 10 MiB a second. */
const GIVE_WAY_MS_MAX = 50;

/** Lets shorter work that waits for this thread go first: resolves when a pause ended in time, or there were enough. */
export async function giveWay({ msMax = GIVE_WAY_MS_MAX } = {}): Promise<void> {
  const until = performance.now() + msMax;
  let late = true;
  while (late && performance.now() < until) {
    const due = performance.now() + PAUSE_MS;
    await sleep(PAUSE_MS);
    late = performance.now() > due + LATE_MS;
  }
}
