import { pause } from "../../schemas/async/pause.js";

/**
 * While poison detection is on, one worker of a process enriches at a time, so a crash can be blamed on one record.
 * Workers whose range is not under detection go on without it.
 */
export interface ThreadMutex {
  /** Resolves when this worker has the lock, at once where it has it already; or without it when `signal` aborts. */
  lock(signal: AbortSignal): Promise<void>;
  /** Does nothing while another worker has the lock. */
  unlock(): void;
}

export const MUTEX_BYTES = Int32Array.BYTES_PER_ELEMENT;

const FREE = 0;
const POLL_MS = 50;

/**
 * The mutex of worker `index` among those that share `memory`, which is all zeros at first. A worker that ended cannot
 * unlock: its supervisor does that with the same index.
 */
export function sharedThreadMutex(memory: SharedArrayBuffer, index: number): ThreadMutex {
  const holder = new Int32Array(memory);
  const own = index + 1;
  const tryToLock = () => {
    const before = Atomics.compareExchange(holder, 0, FREE, own);
    return before === FREE || before === own;
  };
  return {
    async lock(signal) {
      while (!signal.aborted && !tryToLock()) await pause(POLL_MS, { signal });
    },
    unlock: () => void Atomics.compareExchange(holder, 0, own, FREE),
  };
}
