import { createHash, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import { RateLimiterMemory } from "rate-limiter-flexible";

/** How many wrong tokens may come from one address in how long. */
export const FAILURES_MAX = 30;
const WINDOW_SECONDS = 60;

/** Addresses share these; one more attacker slows down one in so many others, and memory has a bound. */
const BUCKETS = 65_536;

const VALID_MAX = 10_000;
const VALID_MS = 3_600_000;

/**
 * Counts wrong tokens by the address they come from. Beyond `FAILURES_MAX` within a minute, an address is refused
 * before anything is looked up; only tokens that were right within the last hour are still looked up, so that a caller who
 * shares an address with an attacker goes on working. (To look up every token would keep out nobody: a token cannot be
 * guessed, what is to be guarded is the database.) Each process counts for itself.
 */
export class FailedTokens {
  private readonly failures = new RateLimiterMemory({ points: FAILURES_MAX, duration: WINDOW_SECONDS });
  private readonly valid = new LRUCache<string, true>({
    max: VALID_MAX,
    ttl: VALID_MS,
    updateAgeOnGet: true,
  });
  private readonly salt = randomBytes(16);

  /** For how many seconds this token is refused from this address without being looked up; 0 where it is not. */
  async refusedSeconds({ address, tokenHash }: Attempt): Promise<number> {
    if (tokenHash !== undefined && this.valid.get(keyOf(tokenHash)) === true) return 0;
    const counted = await this.failures.get(this.bucketOf(address));
    if (counted === null || counted.consumedPoints < FAILURES_MAX) return 0;
    return Math.max(1, Math.ceil(counted.msBeforeNext / 1000));
  }

  async countFailure({ address, tokenHash }: Attempt): Promise<void> {
    if (tokenHash !== undefined) this.valid.delete(keyOf(tokenHash));
    await this.failures.penalty(this.bucketOf(address));
  }

  rememberValid(tokenHash: Buffer): void {
    this.valid.set(keyOf(tokenHash), true);
  }

  /** Which addresses share a bucket cannot be known from outside. */
  private bucketOf(address: string): string {
    const digest = createHash("sha256").update(this.salt).update(address).digest();
    return String(digest.readUInt32BE() % BUCKETS);
  }
}

export interface Attempt {
  /** As `clientAddress` answers it. */
  address: string;
  /** Absent for what cannot be a token. */
  tokenHash: Buffer | undefined;
}

function keyOf(tokenHash: Buffer): string {
  return tokenHash.toString("base64");
}
