import { expect, test } from "vitest";
import {
  FailureLimit,
  FAILURES_MAX,
  SignInLimits,
  SIGN_IN_FAILED,
  FailedTokens,
} from "../../../../../api/base/identity/failure-limits.js";

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
      message: SIGN_IN_FAILED.secret,
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

test("guesses at a username keep its owner out nowhere where the password was right lately", async () => {
  const limits = new SignInLimits();
  const home = { address: "203.0.113.1", username: "Ada" };
  await limits.attempt(home, right);
  for (let failed = 0; failed < FAILURES_MAX; failed += 1)
    await outcomeOf(limits.attempt({ address: `198.51.100.${failed}`, username: "ada" }, wrong));
  const elsewhere = { address: "192.0.2.9", username: "ada" };
  expect(await outcomeOf(limits.attempt(elsewhere, right))).toMatchObject({ code: "rate-limited" });
  expect(await limits.attempt({ ...home, address: "203.0.113.77" }, right)).toBe("session");
  for (let failed = 0; failed < FAILURES_MAX; failed += 1)
    await outcomeOf(limits.attempt({ address: `203.0.113.${failed}`, username: "ada" }, wrong));
  expect(await outcomeOf(limits.attempt({ ...home, address: "203.0.113.77" }, right))).toMatchObject({
    code: "rate-limited",
  });
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

const address = "192.0.2.1";
const WRONG = { address, tokenHash: Buffer.from("wrong") };
const RIGHT = { address, tokenHash: Buffer.from("right") };
const NO_TOKEN = { address, tokenHash: undefined };

async function fail(failed: FailedTokens, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) await failed.countFailure(time % 2 ? WRONG : NO_TOKEN);
}

test("an address is refused for the rest of the minute once so many of its tokens were wrong, and no sooner", async () => {
  const failed = new FailedTokens();
  await fail(failed, FAILURES_MAX - 1);
  expect(await failed.refusedSeconds(WRONG)).toBe(0);
  await fail(failed, 1);
  const seconds = await failed.refusedSeconds(WRONG);
  expect(seconds).toBeGreaterThan(50);
  expect(seconds).toBeLessThanOrEqual(60);
  expect(await failed.refusedSeconds(NO_TOKEN)).toBe(seconds);
});

test("other addresses are not", async () => {
  const failed = new FailedTokens();
  await fail(failed, FAILURES_MAX);
  const others = Array.from({ length: 20 }, (_, last) => `198.51.100.${last}`);
  const refused = await Promise.all(
    others.map((other) => failed.refusedSeconds({ ...WRONG, address: other })),
  );
  expect(refused.filter((seconds) => seconds === 0).length).toBeGreaterThanOrEqual(19);
});

test("a token that was right lately is looked up still, until it was wrong once", async () => {
  const failed = new FailedTokens();
  failed.rememberValid(RIGHT.tokenHash);
  await fail(failed, FAILURES_MAX);
  expect(await failed.refusedSeconds(RIGHT)).toBe(0);
  await failed.countFailure(RIGHT);
  expect(await failed.refusedSeconds(RIGHT)).toBeGreaterThan(0);
});
