import { numbered } from "../../schemas/records/numbered.js";
import type { BatchState } from "./batch-state.js";
import { pause } from "../../schemas/async/pause.js";

/**
 * The first two attempts may fail for any reason and are not counted. From the third on, each chunk is recorded before it
 * is enriched.
 */
const DETECT_FROM_ATTEMPT = 3;
/** A chunk is poison when a worker ended this often in a row while it enriched it. */
const CRASHES_MAX = 5;

/** Finds the chunk that ends its worker, which no `catch` can see. */
export interface PoisonDetection {
  /** Call before enriching a chunk: a crash from here on counts against it. Costs a flush once detection is on. */
  begin(index: number): Promise<void>;
  /** The chunk was enriched, or threw: earlier crashes were not its doing. */
  clear(index: number): void;
  /** No chunk is being enriched: a crash from here on counts against none. */
  end(): Promise<void>;
  /** Why a chunk is poison; undefined when it is not. */
  poisonReason(index: number): string | undefined;
}

export interface DetectionDependencies {
  state: BatchState;
  save: () => Promise<void>;
  mutex: ThreadMutex;
  /** Once aborted, no chunk is recorded any more: the program is being stopped on purpose. */
  stopping: AbortSignal;
}

export function openPoisonDetection({
  state,
  save,
  mutex,
  stopping,
}: DetectionDependencies): PoisonDetection {
  const detecting = state.attempts >= DETECT_FROM_ATTEMPT;
  return {
    async begin(index) {
      if (!detecting) return;
      await mutex.lock(stopping);
      if (stopping.aborted) return mutex.unlock();
      state.enriching = index;
      try {
        await save();
      } catch (error) {
        // The batch may be another worker's by now, which must not wait for this one.
        state.enriching = undefined;
        mutex.unlock();
        throw error;
      }
    },
    clear: (index) => void state.crashes.delete(index),
    async end() {
      if (state.enriching === undefined) return;
      state.enriching = undefined;
      try {
        await save();
      } finally {
        mutex.unlock();
      }
    },
    poisonReason(index) {
      const crashes = state.crashes.get(index) ?? 0;
      return crashes < CRASHES_MAX
        ? undefined
        : `the worker crashed ${numbered(crashes, "time")} while enriching this chunk`;
    },
  };
}

/**
 * While poison detection is on, one worker of a process enriches at a time, so a crash can be blamed on one chunk.
 * Workers whose batch is not under detection go on without it.
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
