export interface TimeLimit extends Disposable {
  /** Aborts after the time with a `TimeoutError`, or with the outer signal and its reason. */
  readonly signal: AbortSignal;
  /** Whether the time came first. */
  readonly isOver: boolean;
}

interface TimeLimitOptions {
  outer?: AbortSignal | undefined;
  /** The reason when the time comes first. */
  reason?: () => unknown;
}

/**
 * Limits work to `durationMs`; dispose of the limit once the work is done. Keeps no process alive.
 * `AbortSignal.any` with `AbortSignal.timeout` does not do: it refers to the timeout weakly, and after a garbage collection
 * the timeout never fires (https://github.com/nodejs/node/issues/57736).
 */
export function limitTime(
  durationMs: number,
  { outer, reason = timedOut }: TimeLimitOptions = {},
): TimeLimit {
  const controller = new AbortController();
  const { signal } = controller;
  let isOver = false;
  const timer = setTimeout(() => {
    if (signal.aborted) return;
    isOver = true;
    controller.abort(reason());
  }, durationMs).unref();
  const leave = () => controller.abort(outer?.reason);
  outer?.addEventListener("abort", leave, { once: true });
  if (outer?.aborted) leave();
  return {
    signal,
    get isOver() {
      return isOver;
    },
    [Symbol.dispose]() {
      clearTimeout(timer);
      outer?.removeEventListener("abort", leave);
    },
  };
}

function timedOut(): DOMException {
  return new DOMException("The operation was aborted due to timeout", "TimeoutError");
}
