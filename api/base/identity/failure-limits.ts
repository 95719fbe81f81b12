import { createHash, randomBytes } from "node:crypto";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { LRUCache } from "lru-cache";
import { Problem } from "../../../schemas/problem.js";
import { coarseNetwork } from "./client-address.js";

/** In a minute, unless another is given. */
export const FAILURES_MAX = 30;
const WINDOW_SECONDS = 60;

const BUCKETS = 65_536;

/**
 * Spreads keys over so many buckets, which bounds the memory of what counts by them. The hash is keyed: callers cannot know
 * which keys share a bucket, and an attacker slows down only these.
 */
export function spreadKeys(): (key: string) => string {
  const salt = randomBytes(16);
  return (key) => String(createHash("sha256").update(salt).update(key).digest().readUInt32BE() % BUCKETS);
}

/** Counts failures by a key, such as an address, in this process. */
export class FailureLimit {
  private readonly failures: RateLimiterMemory;
  private readonly bucketOf = spreadKeys();

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

  /** Before the outcome is known, so that concurrent attempts count each other. `forgive` takes it back. */
  async countAttempt(key: string): Promise<number> {
    const counted = await this.failures.penalty(this.bucketOf(key));
    return counted.consumedPoints <= this.failuresMax ? 0 : secondsUntil(counted);
  }

  async forgive(key: string): Promise<void> {
    await this.failures.reward(this.bucketOf(key));
  }
}

export function secondsUntil({ msBeforeNext }: RateLimiterRes): number {
  return Math.max(1, Math.ceil(msBeforeNext / 1000));
}

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

  /**
   * Answers what `find` does: undefined for a wrong token. Asks it nothing for an address that is refused. Throws
   * `rate-limited` with the sentence.
   */
  async lookUp<T>(
    attempt: Attempt,
    { find, sentence }: { find: () => Promise<T | undefined>; sentence: (seconds: number) => string },
  ): Promise<T | undefined> {
    const seconds = await this.refusedSeconds(attempt);
    if (seconds > 0) throw new Problem("rate-limited", sentence(seconds), { retryAfterSeconds: seconds });
    const found = await find();
    if (found === undefined) await this.countFailure(attempt);
    else if (attempt.tokenHash !== undefined) this.rememberValid(attempt.tokenHash);
    return found;
  }

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

interface AttemptKeys {
  /** The result of `clientAddress`. */
  address: string;
  /** Only for passwords: other secrets cannot be guessed, from however many addresses. */
  username?: string | undefined;
  /** Selects the sentence of a failure. By default that of a password or token. */
  by?: keyof typeof SIGN_IN_FAILED;
}

/** In a minute. */
const RECORDED_MAX = 10;

/** Networks with a username whose password was right there. */
const HOMES_MAX = 10_000;
/** As long as a session lasts. */
const HOME_MS = 30 * 24 * 3_600_000;

/**
 * Refuses to check anything more after `FAILURES_MAX` wrong attempts to sign in within a minute, from one address or
 * for one username. Who guesses at a username thus keeps its account from signing in with the password, but not with a
 * link or the token, and not from a network where the password was right lately: there, attempts count apart.
 */
export class SignInLimits {
  /** By username. Bounds what one who guesses writes to the audit log. */
  readonly recorded = new FailureLimit(RECORDED_MAX);
  private readonly byAddress = new FailureLimit();
  private readonly byUsername = new FailureLimit();
  private readonly byUsernameAtHome = new FailureLimit();
  private readonly homes = new LRUCache<string, true>({ max: HOMES_MAX, ttl: HOME_MS });

  /** `work` answers undefined if the secret is wrong. Throws `unauthenticated`, in one sentence, and `rate-limited`. */
  async attempt<T>(
    { address, username, by = "secret" }: AttemptKeys,
    work: () => Promise<T | undefined>,
  ): Promise<T> {
    const name = username?.toLowerCase();
    const home = `${coarseNetwork(address)} ${name}`;
    const ofName: Counted = this.homes.has(home)
      ? [this.byUsernameAtHome, home]
      : [this.byUsername, name ?? ""];
    const counted: Counted[] = [[this.byAddress, address], ...(name === undefined ? [] : [ofName])];
    await count(counted);
    let found: T | undefined;
    try {
      found = await work();
    } catch (error) {
      // A store that is down, or a field of the form, says nothing about the secret.
      await forgive(counted);
      throw error;
    }
    if (found === undefined) throw new Problem("unauthenticated", SIGN_IN_FAILED[by]);
    await forgive(counted);
    if (name !== undefined) this.homes.set(home, true);
    return found;
  }
}

type Counted = [limit: FailureLimit, key: string];

async function count(counted: readonly Counted[]): Promise<void> {
  const waits = await Promise.all(counted.map(([limit, key]) => limit.countAttempt(key)));
  const seconds = Math.max(...waits);
  if (seconds === 0) return;
  throw new Problem("rate-limited", `Too many failed sign-in attempts. Try again in ${seconds} s.`, {
    retryAfterSeconds: seconds,
  });
}

async function forgive(counted: readonly Counted[]): Promise<void> {
  for (const [limit, key] of counted) await limit.forgive(key);
}

/** One sentence for every reason, so that it does not tell which accounts exist. */
export const SIGN_IN_FAILED = {
  secret: "Wrong username, password or API token.",
  link: "This link is invalid, has expired or was already used.",
  openid:
    "No account matches this sign-in. Ask the operator of this service whether an account has your " +
    "email address.",
} as const;

/** Counts one use for `key`. Throws `rate-limited` with `sentence` above the limit. */
export async function requireFew(limiter: RateLimiterMemory, key: string, sentence: string): Promise<void> {
  try {
    await limiter.consume(key);
  } catch (error) {
    if (!(error instanceof RateLimiterRes)) throw error;
    throw new Problem("rate-limited", sentence, {
      retryAfterSeconds: secondsUntil(error),
      cause: error,
    });
  }
}
