import pRetry from "p-retry";

export interface RetryOptions {
  /** The first one counts as well. Without a number, only the signal ends it. */
  attempts?: number;
  backoff: Backoff;
  /** Ends the pauses and the attempts to come, never an attempt under way. */
  signal?: AbortSignal | undefined;
  ref?: boolean;
  /** Whether another attempt may help; it always may by default. */
  isTransient?: (error: unknown) => boolean;
  onFailure?: (error: unknown) => void | Promise<void>;
}

/** The first pause; each following one is twice as long, up to `maxMs`. */
export interface Backoff {
  firstMs: number;
  maxMs?: number;
}

/** Runs `work` until it succeeds. Rejects with the last failure, or with the signal's reason. */
export async function retry<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { attempts = Infinity, backoff, signal, isTransient = () => true, onFailure, ref = true } = options;
  let success: { value: T } | undefined;
  const attempt = async () => {
    try {
      success = { value: await work() };
    } catch (cause) {
      throw new AttemptFailed(cause);
    }
  };
  try {
    await pRetry(attempt, {
      // p-retry makes no attempt under an aborted signal; here the first one is always made.
      ...(signal?.aborted ? { retries: 0 } : { retries: attempts - 1, signal }),
      minTimeout: backoff.firstMs,
      maxTimeout: backoff.maxMs ?? backoff.firstMs,
      unref: !ref,
      shouldRetry: ({ error }) => isTransient(failureOf(error)),
      onFailedAttempt: ({ error }) => (success === undefined ? onFailure?.(failureOf(error)) : undefined),
    });
  } catch (error) {
    if (success === undefined) throw failureOf(error);
  }
  return (success as unknown as { value: T }).value;
}

/**
 * p-retry makes no further attempt after most TypeErrors, and drivers throw them when a connection breaks.
 */
class AttemptFailed extends Error {
  constructor(override readonly cause: unknown) {
    super("an attempt failed");
  }
}

function failureOf(error: unknown): unknown {
  return error instanceof AttemptFailed ? error.cause : error;
}
