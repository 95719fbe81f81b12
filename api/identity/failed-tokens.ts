import { createHash, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import { RateLimiterMemory } from "rate-limiter-flexible";

/** The limit of wrong tokens from one address in a minute. */
export const FAILURES_MAX = 30;
const WINDOW_SECONDS = 60;

/**
 * Addresses share a fixed number of buckets, which bounds the memory. An attacker slows down only the addresses in the
 * same bucket.
 */
const BUCKETS = 65_536;

const VALID_MAX = 10_000;
const VALID_MS = 3_600_000;

/**
 * Counts wrong tokens by address. After `FAILURES_MAX` within a minute, requests from that address are refused before
 * any lookup. Tokens that were right within the last hour are still looked up, so that a caller who shares an address
 * with an attacker can go on. Tokens cannot be guessed: the limit protects the database, so it must apply before the
 * lookup. Each process counts for itself.
 */
export class FailedTokens {
  private readonly failures = new RateLimiterMemory({ points: FAILURES_MAX, duration: WINDOW_SECONDS });
  private readonly valid = new LRUCache<string, true>({
    max: VALID_MAX,
    ttl: VALID_MS,
    updateAgeOnGet: true,
  });
  private readonly salt = randomBytes(16);

  /** For how many seconds this token is refused from this address without a lookup; 0 if it is not refused. */
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

  /** The hash is keyed: callers cannot know which addresses share a bucket. */
  private bucketOf(address: string): string {
    const digest = createHash("sha256").update(this.salt).update(address).digest();
    return String(digest.readUInt32BE() % BUCKETS);
  }
}

export interface Attempt {
  /** The result of `clientAddress`. */
  address: string;
  /** Absent if the text cannot be a token. */
  tokenHash: Buffer | undefined;
}

function keyOf(tokenHash: Buffer): string {
  return tokenHash.toString("base64");
}
