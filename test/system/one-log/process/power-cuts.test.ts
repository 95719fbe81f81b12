import { afterAll, beforeAll, expect, test } from "vitest";
import { NOTHING_WRONG, nameOf, seedText, totalsOf } from "../../../faults/imports/report.js";
import { runPlan } from "../../../faults/imports/run-seed.js";
import { POWER_FAULTS } from "../../../faults/plans/fault-catalog.js";
import { planEach } from "../../../faults/plans/plan-seed.js";
import { openEmbeddedWorld } from "../../../faults/worlds/embedded-world.js";
import type { FaultWorld } from "../../../faults/worlds/fault-world.js";
import { describeOrSkip } from "../../../support/describe-or-skip.js";
import { makeLoopDisk, missingForLoopDisk } from "../../../support/program/loop-disk.js";

/** Where most can go wrong. `npm run test:faults -- --power` cuts the power at every point, and between them. */
const POINTS = ["after-insert", "after-sync", "settlement-applied", "erasure-finished"];

const NEED = { missing: missingForLoopDisk(), ciRule: "With CI=true the power must be cut." };

describeOrSkip("when the power is cut", NEED, () => {
  let world: FaultWorld;

  beforeAll(async () => {
    world = await openEmbeddedWorld({ disk: makeLoopDisk() });
  });

  afterAll(() => world?.[Symbol.asyncDispose]());

  test("every acknowledged line counts exactly once, and a client is erased whole", async () => {
    const kinds = POWER_FAULTS.turns
      .flat()
      .filter(({ point, delayMsMax }) => delayMsMax === 0 && POINTS.includes(point));
    const plan = planEach(kinds, { seed: 1_000_004 });
    const report = await runPlan(world, plan);
    expect(totalsOf([report]), seedText(report)).toEqual(NOTHING_WRONG);
    expect(report.faults.map(nameOf).sort()).toEqual(plan.faults.map(nameOf).sort());
  });
});
