import { expect, test } from "vitest";
import { planFunnelSeed } from "../../faults/funnel/plan-funnel-seed.js";

const SEEDS = Array.from({ length: 20 }, (_, index) => index + 1);

test("a seed always plans the same, with more companies than one event holds", () => {
  for (const seed of SEEDS) {
    const plan = planFunnelSeed(seed);
    expect(planFunnelSeed(seed)).toEqual(plan);
    const first = plan.owners.map(({ rounds }) => rounds[0]?.companies.length ?? 0);
    expect(Math.min(...first)).toBeGreaterThan(100);
  }
});

test("nine consecutive seeds bring every point of computing together with every one of delivering", () => {
  const pairs = SEEDS.slice(0, 9).map((seed) =>
    planFunnelSeed(seed)
      .faults.map(({ point }) => point)
      .join(),
  );
  expect(new Set(pairs).size).toBe(9);
});
