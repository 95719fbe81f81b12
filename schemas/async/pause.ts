export interface PauseOptions {
  signal?: AbortSignal | undefined;
  /** False lets the process end meanwhile. */
  ref?: boolean;
}

/** Resolves after this time, or as soon as the signal aborts: the caller asks the signal what to do next. */
export function pause(durationMs: number, { signal, ref = true }: PauseOptions = {}): Promise<void> {
  return new Promise((resolve) => {
    // The global timer and not that of node:timers/promises, which fake clocks of tests leave alone.
    const timer = setTimeout(end, durationMs);
    if (!ref) timer.unref();
    signal?.addEventListener("abort", end, { once: true });
    if (signal?.aborted) end();
    function end(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    }
  });
}
