import { expect, test } from "vitest";
import { nextAttempt } from "../../../../api/webhooks/attempt-and-retry.js";

test.each([200, 201, 204, 299])("status %s is the end of it: delivered", (status) => {
  expect(nextAttempt({ status }, { attempts: 0, random: 0.5 })).toEqual({ state: "delivered" });
});

test.each([100, 101, 199, 300, 301, 307, 400, 404, 410, 429, 500, 503])(
  "status %s is the end of it: failed",
  (status) => {
    expect(nextAttempt({ status }, { attempts: 0, random: 0.5 })).toEqual({ state: "failed" });
  },
);

test.each([
  [0, 0, 8_000],
  [0, 0.5, 10_000],
  [0, 0.999999, 12_000],
  [1, 0, 48_000],
  [1, 0.5, 60_000],
  [1, 0.999999, 72_000],
  [2, 0, 288_000],
  [2, 0.5, 360_000],
  [2, 0.999999, 432_000],
])(
  "without an answer, %s attempts before and at %s of the spread, it waits %s ms",
  (attempts, random, delayMs) => {
    expect(nextAttempt({ status: null }, { attempts, random })).toEqual({ state: "pending", delayMs });
  },
);

test("after three retries it has failed", () => {
  expect(nextAttempt({ status: null }, { attempts: 3, random: 0 })).toEqual({ state: "failed" });
});
