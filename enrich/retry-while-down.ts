const FIRST_DELAY_MS = 100;
const DELAY_MS_MAX = 5_000;
/** A store that is down for longer than this stops the worker; its supervisor starts it again. */
const TRIES_MAX = 20;

export interface Retrying {
  onFailure: (error: unknown) => void;
  /** Once aborted, the next failure is the last. */
  signal?: AbortSignal;
}

/** Runs `work` until it succeeds, waiting longer after each failure; rethrows the last of about a minute's tries. */
export async function retryWhileDown<T>(work: () => Promise<T>, { onFailure, signal }: Retrying): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await work();
    } catch (error) {
      onFailure(error);
      if (tried === TRIES_MAX || signal?.aborted) throw error;
    }
    await pause(Math.min(FIRST_DELAY_MS * 2 ** (tried - 1), DELAY_MS_MAX), signal);
  }
}

function pause(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
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
