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
