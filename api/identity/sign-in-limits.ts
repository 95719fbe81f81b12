import { Problem } from "../../schemas/problem.js";
import { FailureLimit } from "./failure-limit.js";

export interface AttemptKeys {
  /** The result of `clientAddress`. */
  address: string;
  /** Only for passwords: other secrets cannot be guessed, from however many addresses. */
  username?: string | undefined;
}

/**
 * Refuses to check anything more after `FAILURES_MAX` wrong attempts to sign in within a minute, from one address or
 * for one username. Who guesses at a username thus keeps its account from signing in with the password, but not with a
 * link or the token.
 */
export class SignInLimits {
  private readonly byAddress = new FailureLimit();
  private readonly byUsername = new FailureLimit();

  /**
   * Runs one attempt, whose work answers undefined if the secret is wrong. Every refusal has the same sentence, so that
   * nobody learns from it which accounts there are. Throws `unauthenticated` and `rate-limited`.
   */
  async attempt<T>(keys: AttemptKeys, work: () => Promise<T | undefined>): Promise<T> {
    await this.count(keys);
    let found: T | undefined;
    try {
      found = await work();
    } catch (error) {
      // A store that is down, or a field of the form, says nothing about the secret.
      await this.forgive(keys);
      throw error;
    }
    if (found === undefined) throw new Problem("unauthenticated", SIGN_IN_FAILED);
    await this.forgive(keys);
    return found;
  }

  private async count({ address, username }: AttemptKeys): Promise<void> {
    const seconds = Math.max(
      await this.byAddress.countAttempt(address),
      username === undefined ? 0 : await this.byUsername.countAttempt(username.toLowerCase()),
    );
    if (seconds === 0) return;
    throw new Problem("rate-limited", `Too many attempts to sign in failed; try again in ${seconds} s.`, {
      retryAfterSeconds: seconds,
    });
  }

  private async forgive({ address, username }: AttemptKeys): Promise<void> {
    await this.byAddress.forgive(address);
    if (username !== undefined) await this.byUsername.forgive(username.toLowerCase());
  }
}

/** The one sentence for every reason. */
export const SIGN_IN_FAILED =
  "You are not signed in: the username, token, password or link is wrong, was used already, or has expired.";
