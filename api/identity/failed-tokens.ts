import { LRUCache } from "lru-cache";
import { FailureLimit } from "./failure-limit.js";

const VALID_MAX = 10_000;
const VALID_MS = 3_600_000;

/**
 * Counts wrong tokens by address. After `FAILURES_MAX` within a minute, requests from that address are refused before
 * any lookup. Tokens that were right within the last hour are still looked up, so that a caller who shares an address
 * with an attacker can go on. Tokens cannot be guessed: the limit protects the database, so it must apply before the
 * lookup. Each process counts for itself.
 */
export class FailedTokens {
  private readonly failures = new FailureLimit();
  private readonly valid = new LRUCache<string, true>({
    max: VALID_MAX,
    ttl: VALID_MS,
    updateAgeOnGet: true,
  });

  /** For how many seconds this token is refused from this address without a lookup; 0 if it is not refused. */
  async refusedSeconds({ address, tokenHash }: Attempt): Promise<number> {
    if (tokenHash !== undefined && this.valid.get(keyOf(tokenHash)) === true) return 0;
    return this.failures.refusedSeconds(address);
  }

  async countFailure({ address, tokenHash }: Attempt): Promise<void> {
    if (tokenHash !== undefined) this.valid.delete(keyOf(tokenHash));
    await this.failures.count(address);
  }

  rememberValid(tokenHash: Buffer): void {
    this.valid.set(keyOf(tokenHash), true);
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
