const FIRST_DELAY_MS = 100;
const DELAY_MS_MAX = 5_000;
/** A store that is down for longer than this stops the worker; its supervisor starts it again. */
const TRIES_MAX = 20;

/** Does work that a store's absence may fail, until it succeeds; `what` says in the log what was tried. */
export type Again = <T>(what: string, work: () => Promise<T>) => Promise<T>;

export interface Retrying {
  /** Waited for before the next try. */
  onFailure: (error: unknown) => void | Promise<void>;
  /** Once aborted, the next failure is the last. */
  signal?: AbortSignal;
  /** Whether to try again at all; the failure is passed on where not. Always, where nothing is said. */
  isDown?: (error: unknown) => boolean;
}

/** A store was waited for in vain: nothing is wrong with what was to be done. */
export class StillDown extends Error {
  constructor(cause: unknown) {
    super(`a store is still down: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = "StillDown";
  }
}

/**
 * Runs `work` until it succeeds, waiting longer after each failure.
 * @throws StillDown after about a minute's tries, with the last failure as its cause
 */
export async function retryWhileDown<T>(
  work: () => Promise<T>,
  { onFailure, signal, isDown = () => true }: Retrying,
): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await work();
    } catch (error) {
      if (!isDown(error)) throw error;
      await onFailure(error);
      if (tried === TRIES_MAX || signal?.aborted) throw new StillDown(error);
    }
    await pause(Math.min(FIRST_DELAY_MS * 2 ** (tried - 1), DELAY_MS_MAX), signal);
  }
}

/** Ends early when the signal says so. */
export function pause(delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, delayMs);
    signal?.addEventListener("abort", end, { once: true });
    function end() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    }
  });
}
