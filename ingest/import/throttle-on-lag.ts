import { setTimeout as sleep } from "node:timers/promises";

const PAUSE_MS = 1;
/** A pause that ends so much later says that others have work for this thread. */
const LATE_MS = 2;
/** Beside others that never stop, a chunk waits for so long, and for the turn that is theirs then. */
const GIVE_WAY_MS_MAX = 50;

export interface GiveWayDependencies {
  /** Milliseconds since whenever. */
  now?: () => number;
  pause?: (ms: number) => Promise<unknown>;
}

/** Lets what else waits for this thread go first: resolves when a short pause ended in time, or 50 ms have gone by. */
export async function giveWay({
  now = () => performance.now(),
  pause = sleep,
}: GiveWayDependencies = {}): Promise<void> {
  const until = now() + GIVE_WAY_MS_MAX;
  let late = true;
  while (late && now() < until) {
    const due = now() + PAUSE_MS;
    await pause(PAUSE_MS);
    late = now() > due + LATE_MS;
  }
}
