const FIRST_DELAY_MS = 100;
const DELAY_MS_MAX = 5_000;
/** A store that is down for longer than this stops the worker; its supervisor starts it again. */
const TRIES_MAX = 20;

/** Runs `work` until it succeeds, waiting longer after each failure; rethrows the last of about a minute's tries. */
export async function retryWhileDown<T>(
  work: () => Promise<T>,
  onFailure: (error: unknown) => void,
): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await work();
    } catch (error) {
      onFailure(error);
      if (tried === TRIES_MAX) throw error;
    }
    const delayMs = Math.min(FIRST_DELAY_MS * 2 ** (tried - 1), DELAY_MS_MAX);
    await new Promise((resolve) => setTimeout(resolve, delayMs));
  }
}
