import { afterAll, beforeAll, expect, test } from "vitest";
import { funnelSeedText, funnelTotalsOf } from "../../../faults/funnel/funnel-report.js";
import { openFunnelWorld, type FunnelWorld } from "../../../faults/funnel/funnel-world.js";
import { planEveryFunnelPoint } from "../../../faults/funnel/plan-funnel-seed.js";
import { runFunnelPlan, type FunnelSeedReport } from "../../../faults/funnel/run-funnel-seed.js";

/** One kill comes at a moment without a name. `npm run test:faults -- --funnel --seeds 100` runs many plans. */
const PLAN = planEveryFunnelPoint(1);

let report: FunnelSeedReport;
let world: FunnelWorld;

beforeAll(async () => {
  world = await openFunnelWorld();
});

afterAll(() => world?.[Symbol.asyncDispose]());

test("every change of stage is announced once under one id, though the program was killed at every point in turn", async () => {
  report = await runFunnelPlan(world, PLAN);
  expect(funnelTotalsOf([report]), funnelSeedText(report)).toEqual({
    ...{ missing: 0, twice: 0, unheardOf: 0, unstable: 0, unsigned: 0, malformed: 0 },
    ...{ misplaced: 0, stuck: 0 },
  });
  expect([report.changes > 0, report.announced]).toEqual([true, report.changes]);
});

test("it was killed at each point of computing and delivering and once between, and what had arrived came again", () => {
  expect(report.faults.map(({ point }) => point).sort()).toEqual([
    "delivery-after-answer",
    "delivery-after-record",
    "delivery-before-request",
    "funnel-after-commit",
    "funnel-announced",
    "funnel-before-commit",
  ]);
  expect(report.killsAnywhere).toBe(1);
  expect(report.repeated).toBeGreaterThan(0);
});
