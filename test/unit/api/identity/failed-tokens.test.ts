import { expect, test } from "vitest";
import { FailedTokens, FAILURES_MAX } from "../../../../api/identity/failure-limits.js";

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
