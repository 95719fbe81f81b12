import { type RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { Problem } from "../../../schemas/problem.js";

/** Counts one use for `key`. Throws `rate-limited` with `sentence` above the limit. */
export async function requireFew(limiter: RateLimiterMemory, key: string, sentence: string): Promise<void> {
  try {
    await limiter.consume(key);
  } catch (error) {
    if (!(error instanceof RateLimiterRes)) throw error;
    throw new Problem("rate-limited", sentence, {
      retryAfterSeconds: Math.max(1, Math.ceil(error.msBeforeNext / 1000)),
      cause: error,
    });
  }
}
