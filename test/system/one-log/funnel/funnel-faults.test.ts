import { afterAll, beforeAll, expect, test } from "vitest";
import { funnelSeedText, funnelTotalsOf } from "../../../faults/funnel-report.js";
import { openFunnelWorld, type FunnelWorld } from "../../../faults/funnel-world.js";
import { planEveryFunnelPoint, planFunnelSeed } from "../../../faults/plan-funnel-seed.js";
import { runFunnelPlan, type FunnelSeedReport } from "../../../faults/run-funnel-seed.js";

/** `npm run test:faults -- --funnel --seeds 100` runs many. */
const PLANS = [
  { when: "at every point in turn", plan: planEveryFunnelPoint(1) },
  { when: "at two points and at moments without a name", plan: planFunnelSeed(5) },
];

const reports: FunnelSeedReport[] = [];
let world: FunnelWorld;

beforeAll(async () => {
  world = await openFunnelWorld();
});

afterAll(() => world?.[Symbol.asyncDispose]());

test.each(PLANS)(
  "every change of stage is announced once under one id, though the program was killed $when",
  async ({ plan }) => {
    const report = await runFunnelPlan(world, plan);
    reports.push(report);
    expect(funnelTotalsOf([report]), funnelSeedText(report)).toEqual({
      ...{ missing: 0, twice: 0, unheardOf: 0, unstable: 0, unsigned: 0, malformed: 0 },
      ...{ misplaced: 0, stuck: 0 },
    });
    expect([report.changes > 0, report.announced]).toEqual([true, report.changes]);
  },
  240_000,
);

test("it was killed at each point of computing and delivering, and what had arrived came again", () => {
  const points = reports.flatMap(({ faults }) => faults.map(({ point }) => point));
  expect([...new Set(points)].sort()).toEqual([
    "delivery-after-answer",
    "delivery-after-record",
    "delivery-before-request",
    "funnel-after-commit",
    "funnel-announced",
    "funnel-before-commit",
  ]);
  expect(reports.reduce((sum, { repeated }) => sum + repeated, 0)).toBeGreaterThan(0);
});
