import type { RangeNote } from "./range-note.js";
import type { ThreadMutex } from "./thread-mutex.js";

/**
 * The first two attempts may fail for any reason and are not counted. From the third on, each record is noted before it
 * is enriched.
 */
const DETECT_FROM_ATTEMPT = 3;
/** A record is poison when a worker ended this often in a row while it enriched it. */
const CRASHES_MAX = 5;

/** Finds the record that ends its worker, which no `catch` can see. */
export interface PoisonDetection {
  /** Call before enriching a record: a crash from here on counts against it. Costs a flush once detection is on. */
  begin(index: number): Promise<void>;
  /** The record was enriched, or threw: earlier crashes were not its doing. */
  clear(index: number): void;
  /** No record is being enriched: a crash from here on counts against none. */
  end(): Promise<void>;
  /** Why a record is poison; undefined when it is not. */
  poisonReason(index: number): string | undefined;
}

export interface DetectionDependencies {
  note: RangeNote;
  save: () => Promise<void>;
  mutex: ThreadMutex;
  /** Once aborted, no record is noted any more: the program is being stopped on purpose. */
  stopping: AbortSignal;
}

export function openPoisonDetection({ note, save, mutex, stopping }: DetectionDependencies): PoisonDetection {
  const detecting = note.attempts >= DETECT_FROM_ATTEMPT;
  return {
    async begin(index) {
      if (!detecting) return;
      await mutex.lock(stopping);
      if (stopping.aborted) return mutex.unlock();
      note.enriching = index;
      try {
        await save();
      } catch (error) {
        // The range may be another worker's by now, which must not wait for this one.
        note.enriching = undefined;
        mutex.unlock();
        throw error;
      }
    },
    clear: (index) => void note.crashes.delete(index),
    async end() {
      if (note.enriching === undefined) return;
      note.enriching = undefined;
      try {
        await save();
      } finally {
        mutex.unlock();
      }
    },
    poisonReason(index) {
      const crashes = note.crashes.get(index) ?? 0;
      return crashes < CRASHES_MAX
        ? undefined
        : `the worker ended ${crashes} times while it enriched this chunk`;
    },
  };
}
