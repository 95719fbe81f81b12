import { afterAll, beforeAll, expect, test } from "vitest";
import { openEmbeddedWorld } from "../../../faults/embedded-world.js";
import type { FaultWorld } from "../../../faults/fault-world.js";
import type { PlannedFault } from "../../../faults/plan-seed.js";
import { seedText } from "../../../faults/report.js";
import { runSeed } from "../../../faults/run-seed.js";

const SEEDS = Array.from({ length: 20 }, (_, index) => index + 1);

const struck: PlannedFault[] = [];
let world: FaultWorld;

beforeAll(async () => {
  world = await openEmbeddedWorld();
});

afterAll(() => world?.[Symbol.asyncDispose]());

test.each(SEEDS)("every acknowledged line counts exactly once, whatever died (seed %i)", async (seed) => {
  const report = await runSeed(world, seed);
  struck.push(...report.faults);
  const { lost, doubled, mismatched, miscounted, stuck } = report;
  expect({ lost, doubled, mismatched, miscounted, stuck }, seedText(report)).toEqual({
    lost: 0,
    doubled: 0,
    mismatched: 0,
    miscounted: 0,
    stuck: 0,
  });
});

test("the faults did strike: nearly every kind of them, and one in every seed", () => {
  const kinds = new Set(struck.map(({ action, point }) => `${action} at ${point}`));
  expect(struck.length).toBeGreaterThanOrEqual(SEEDS.length);
  expect(kinds.size).toBeGreaterThan(24);
  expect(new Set(struck.map(({ action }) => action)).size).toBe(5);
});
