import { afterAll, beforeAll, expect, test } from "vitest";
import { openFaultWorld, type FaultWorld } from "../faults/fault-world.js";
import { seedText } from "../faults/report.js";
import { runSeed } from "../faults/run-seed.js";

const SEEDS = Array.from({ length: 20 }, (_, index) => index + 1);

let world: FaultWorld;

beforeAll(async () => {
  world = await openFaultWorld();
});

afterAll(() => world?.[Symbol.asyncDispose]());

test.each(SEEDS)("every acknowledged line counts exactly once, whatever died (seed %i)", async (seed) => {
  const report = await runSeed(world, seed);
  const { lost, doubled, mismatched, miscounted, stuck } = report;
  expect({ lost, doubled, mismatched, miscounted, stuck }, seedText(report)).toEqual({
    lost: 0,
    doubled: 0,
    mismatched: 0,
    miscounted: 0,
    stuck: 0,
  });
});
