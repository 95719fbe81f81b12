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
  const options = { attempts: ATTEMPTS_MAX, backoff: BACKOFF, signal, isTransient: isDown };
  try {
    return await retry(work, {
      ...options,
      async onFailure(error) {
        if (!isDown(error)) return;
        down = error;
        await onFailure(error);
      },
    });
  } catch (error) {
    const gaveUp = error === down || (signal?.aborted && error === signal.reason);
    throw gaveUp ? new StillDown(down) : error;
  }
}
