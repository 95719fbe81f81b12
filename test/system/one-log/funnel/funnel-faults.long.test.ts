import { afterAll, beforeAll, expect, test } from "vitest";
import { funnelSeedText, funnelTotalsOf } from "../../../faults/funnel/funnel-report.js";
import type { FaultPoint } from "../../../../schemas/fault-point.js";
import { openFunnelWorld, type FunnelWorld } from "../../../faults/funnel/funnel-world.js";
import { planFunnelPoints } from "../../../faults/funnel/plan-funnel-seed.js";
import { runFunnelPlan, type FunnelSeedReport } from "../../../faults/funnel/run-funnel-seed.js";

/** Where most can go wrong. `npm run test:faults -- --funnel --seeds 100` kills at every point, and anywhere. */
const POINTS: readonly FaultPoint[] = [
  "funnel-before-commit",
  "funnel-after-commit",
  "delivery-after-answer",
];
const PLAN = planFunnelPoints(POINTS, 1);

let report: FunnelSeedReport;
let world: FunnelWorld;

beforeAll(async () => {
  world = await openFunnelWorld();
});

afterAll(() => world?.[Symbol.asyncDispose]());

test("every change of stage is announced once under one id, though the program was killed between", async () => {
  report = await runFunnelPlan(world, PLAN);
  expect(funnelTotalsOf([report]), funnelSeedText(report)).toEqual({
    ...{ missing: 0, twice: 0, unheardOf: 0, unstable: 0, unsigned: 0, malformed: 0 },
    ...{ misplaced: 0, stuck: 0 },
  });
  expect([report.changes > 0, report.announced]).toEqual([true, report.changes]);
});

test("it was killed at each of the points, and what had arrived came again", () => {
  expect(report.faults.map(({ point }) => point).sort()).toEqual([...POINTS].sort());
  expect(report.repeated).toBeGreaterThan(0);
});
