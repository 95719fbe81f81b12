import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NOTHING_WRONG, nameOf, seedText, totalsOf } from "../../../faults/imports/report.js";
import { runPlan } from "../../../faults/imports/run-seed.js";
import { POWER_FAULTS } from "../../../faults/plans/fault-catalog.js";
import { planEach } from "../../../faults/plans/plan-seed.js";
import { openEmbeddedWorld } from "../../../faults/worlds/embedded-world.js";
import type { FaultWorld } from "../../../faults/worlds/fault-world.js";
import { canMakeLoopDisk, type LoopDisk, makeLoopDisk } from "../../../support/program/loop-disk.js";

const POSSIBLE = canMakeLoopDisk();
if (!POSSIBLE) console.warn("SKIPPED: power cuts need root, a loop device and mkfs.ext4");

/** Where most can go wrong. `npm run test:faults -- --power` cuts the power at every point, and between them. */
const POINTS = ["after-insert", "after-sync", "settlement-applied"];

describe.skipIf(!POSSIBLE && process.env["CI"] === undefined)("when the power is cut", () => {
  let disk: LoopDisk;
  let world: FaultWorld;

  beforeAll(async () => {
    disk = makeLoopDisk();
    world = await openEmbeddedWorld({ disk });
  });

  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
    await disk?.[Symbol.asyncDispose]();
  });

  test("every acknowledged line counts exactly once", async () => {
    const kinds = POWER_FAULTS.turns
      .flat()
      .filter(({ point, delayMsMax }) => delayMsMax === 0 && POINTS.includes(point));
    const plan = planEach(kinds, { seed: 1_000_004 });
    const report = await runPlan(world, plan);
    expect(totalsOf([report]), seedText(report)).toEqual(NOTHING_WRONG);
    expect(report.faults.map(nameOf).sort()).toEqual(plan.faults.map(nameOf).sort());
  });
});
