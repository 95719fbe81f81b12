import { expect, test } from "vitest";
import { webhooksReport } from "../../../bench/webhooks/webhooks-report.js";

test("compares deliveries a second, by medians of the rounds", () => {
  const rounds = [1, 2, 4].map((oursSeconds) => ({
    deliveries: 1_000,
    oursSeconds,
    again: 1,
    peerSeconds: 1,
  }));
  const { text, json } = webhooksReport(rounds);
  expect(json).toEqual({
    deliveries: 1_000,
    rounds: 3,
    deliveries_per_second: 500,
    delivered_again: 3,
    peers: { bare_posts: { deliveries_per_second: 1_000 } },
    ratio: 0.5,
  });
  expect(text).toContain("medians of 3 rounds");
  expect(text).toMatch(/deliveries per second +500 +1000/);
});
