import { createHash, randomBytes } from "node:crypto";
import { RateLimiterMemory, type RateLimiterRes } from "rate-limiter-flexible";

/** The limit of failures for one key in a minute, unless another is given. */
export const FAILURES_MAX = 30;
const WINDOW_SECONDS = 60;

/**
 * Keys share a fixed number of buckets, which bounds the memory. An attacker slows down only the keys in the same
 * bucket.
 */
const BUCKETS = 65_536;

/** Counts failures by a key, such as an address, in this process. */
export class FailureLimit {
  private readonly failures: RateLimiterMemory;
  private readonly salt = randomBytes(16);

  constructor(private readonly failuresMax = FAILURES_MAX) {
    this.failures = new RateLimiterMemory({ points: failuresMax, duration: WINDOW_SECONDS });
  }

  /** For how many seconds the key is refused; 0 if it is not. */
  async refusedSeconds(key: string): Promise<number> {
    const counted = await this.failures.get(this.bucketOf(key));
    if (counted === null || counted.consumedPoints < this.failuresMax) return 0;
    return secondsUntil(counted);
  }

  async count(key: string): Promise<void> {
    await this.failures.penalty(this.bucketOf(key));
  }

  /**
   * Counts an attempt before its outcome is known, so that attempts at the same time count each other. Answers as
   * `refusedSeconds`. `forgive` takes the count back.
   */
  async countAttempt(key: string): Promise<number> {
    const counted = await this.failures.penalty(this.bucketOf(key));
    return counted.consumedPoints <= this.failuresMax ? 0 : secondsUntil(counted);
  }

  async forgive(key: string): Promise<void> {
    await this.failures.reward(this.bucketOf(key));
  }

  /** The hash is keyed: callers cannot know which keys share a bucket. */
  private bucketOf(key: string): string {
    const digest = createHash("sha256").update(this.salt).update(key).digest();
    return String(digest.readUInt32BE() % BUCKETS);
  }
}

function secondsUntil({ msBeforeNext }: RateLimiterRes): number {
  return Math.max(1, Math.ceil(msBeforeNext / 1000));
}
