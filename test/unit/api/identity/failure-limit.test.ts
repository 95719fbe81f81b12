import { expect, test } from "vitest";
import {
  FailureLimit,
  FAILURES_MAX,
  SignInLimits,
  SIGN_IN_FAILED,
} from "../../../../api/identity/failure-limits.js";

const KEYS = { address: "192.0.2.1", username: "Ada" };
const wrong = () => Promise.resolve(undefined);
const right = () => Promise.resolve("session");
const outcomeOf = (attempt: Promise<unknown>) =>
  attempt.catch((error: { code: string; message: string; retryAfterSeconds?: number }) => error);

test("attempts at the same time count each other", async () => {
  const limit = new FailureLimit();
  const seconds = await Promise.all(
    Array.from({ length: FAILURES_MAX + 5 }, () => limit.countAttempt("ada")),
  );
  expect(seconds.filter((each) => each > 0)).toHaveLength(5);
});

test("wrong attempts have one sentence, and are refused after 30 in a minute, with the time to wait", async () => {
  const limits = new SignInLimits();
  for (let failed = 0; failed < FAILURES_MAX; failed += 1)
    expect(await outcomeOf(limits.attempt(KEYS, wrong))).toMatchObject({
      code: "unauthenticated",
      message: SIGN_IN_FAILED,
    });
  const refused = await outcomeOf(limits.attempt(KEYS, right));
  expect(refused).toMatchObject({ code: "rate-limited" });
  expect((refused as { retryAfterSeconds: number }).retryAfterSeconds).toBeGreaterThan(50);
});

test("guesses at one username are counted from all addresses together, in any case", async () => {
  const limits = new SignInLimits();
  for (let failed = 0; failed < FAILURES_MAX; failed += 1)
    await outcomeOf(limits.attempt({ address: `198.51.100.${failed}`, username: "ada" }, wrong));
  const guess = outcomeOf(limits.attempt({ address: "203.0.113.1", username: "ADA" }, right));
  expect(await guess).toMatchObject({ code: "rate-limited" });
  // Without a password, as with a link or the token.
  expect(await limits.attempt({ address: "203.0.113.1" }, right)).toBe("session");
});

test("neither those that succeed nor those that a fault breaks off count", async () => {
  const limits = new SignInLimits();
  const fails = () => Promise.reject(new Error("the store is down"));
  for (let time = 0; time < FAILURES_MAX; time += 1) {
    await limits.attempt(KEYS, right);
    await expect(limits.attempt(KEYS, fails)).rejects.toThrow("the store is down");
  }
  expect(await limits.attempt(KEYS, right)).toBe("session");
});
