import { retry } from "../../schemas/async/retry.js";

const BACKOFF = { firstMs: 100, maxMs: 5_000 };
/** A store that is down for longer than this stops the worker; its supervisor starts it again. */
const ATTEMPTS_MAX = 20;

/** Does work that a store's absence may fail, until it succeeds; `what` says in the log what was tried. */
export type Again = <T>(what: string, work: () => Promise<T>) => Promise<T>;

export interface Retrying {
  /** Waited for before the next attempt. */
  onFailure: (error: unknown) => void | Promise<void>;
  /** Once aborted, the next failure is the last. */
  signal?: AbortSignal;
  /** Whether to try again at all; every failure is tried again by default. */
  isDown?: (error: unknown) => boolean;
}

/** A store did not come back in time: nothing is wrong with the work itself. */
export class StillDown extends Error {
  constructor(cause: unknown) {
    super(`a store is still down: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = "StillDown";
  }
}

/**
 * Runs `work` until it succeeds, waiting longer after each failure.
 * @throws StillDown after about a minute, or after the signal, with the last failure as its cause
 */
export async function retryWhileDown<T>(
  work: () => Promise<T>,
  { onFailure, signal, isDown = () => true }: Retrying,
): Promise<T> {
  let down: unknown;
  let failedAfterAbort = false;
  const attempt = {
    isTransient: isDown,
    async onFailure(error: unknown) {
      if (!isDown(error)) return;
      down = error;
      failedAfterAbort = signal?.aborted ?? false;
      await onFailure(error);
    },
  };
  try {
    return await retry(work, { ...attempt, attempts: ATTEMPTS_MAX, backoff: BACKOFF, signal }).catch(
      (error) => {
        const duringPause = signal?.aborted && error === signal.reason && !failedAfterAbort;
        if (!duringPause) throw error;
        // A worker that is stopped in a pause tries once more: the store may be back, and its batch can be committed.
        return retry(work, { ...attempt, attempts: 1, backoff: BACKOFF });
      },
    );
  } catch (error) {
    const gaveUp = error === down || (signal?.aborted && error === signal.reason);
    throw gaveUp ? new StillDown(down) : error;
  }
}
