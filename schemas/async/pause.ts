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

/** Whether the promise fulfils within this time; rejects when it does. Leaves no timer behind. */
export async function settlesWithin(promise: PromiseLike<unknown>, durationMs: number): Promise<boolean> {
  const settled = new AbortController();
  const { signal } = settled;
  try {
    return await Promise.race([promise.then(() => true), pause(durationMs, { signal }).then(() => false)]);
  } finally {
    settled.abort();
  }
}

/** Settles as the promise does, or rejects with the signal's reason when that comes first. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => undefined);
  signal.throwIfAborted();
  let abort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason as Error);
    signal.addEventListener("abort", abort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

export interface IdleWatch extends Disposable {
  during<T>(work: Promise<T>): Promise<T>;
}

/** Calls `onIdle` once no work was done for `idleMs`, after each period of work. Keeps no process alive. */
export function whenIdle(idleMs: number, onIdle: () => void): IdleWatch {
  let working = 0;
  let timer: NodeJS.Timeout | undefined;
  return {
    async during(work) {
      working++;
      clearTimeout(timer);
      try {
        return await work;
      } finally {
        working--;
        if (working === 0) timer = setTimeout(onIdle, idleMs).unref();
      }
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}

export interface Repetition {
  everyMs?: number | undefined;
  onFailure: (error: unknown) => void;
}

const EVERY_MS = 1_000;
/** How much longer to wait after a store was down. */
const PAUSE_FACTOR = 5;

/** Does the work again and again, one time after the other, until disposed of. It ends soon after its signal aborts. */
export function startRepeating(
  work: (signal: AbortSignal) => Promise<void>,
  { everyMs = EVERY_MS, onFailure }: Repetition,
): AsyncDisposable {
  const stop = new AbortController();
  const { signal } = stop;
  const finished = run();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await finished;
    },
  };

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        await work(signal);
      } catch (error) {
        onFailure(error);
        await pause(everyMs * PAUSE_FACTOR, { signal });
      }
      await pause(everyMs, { signal });
    }
  }
}
