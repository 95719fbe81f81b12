import { afterAll, beforeAll, expect, test } from "vitest";
import { openEmbeddedWorld } from "../../../faults/worlds/embedded-world.js";
import { EMBEDDED_FAULTS, type FaultAction } from "../../../faults/plans/fault-catalog.js";
import type { FaultWorld } from "../../../faults/worlds/fault-world.js";
import { planEach, type PlannedFault, type SeedPlan } from "../../../faults/plans/plan-seed.js";
import { nameOf, seedText } from "../../../faults/imports/report.js";
import { runPlan } from "../../../faults/imports/run-seed.js";

/** The points between which most can go wrong. `npm run test:faults -- --seeds 28` meets every kind at every point. */
const PROGRAM_DIES = ["before-answer", "after-insert", "settlement-staged", "settlement-applied"];
const STORE_DIES = ["after-insert", "settlement-staged"];
const DISK_IS_FULL = ["before-append", "after-insert"];

const KINDS = EMBEDDED_FAULTS.turns.flat();
const kindsAt = (points: readonly string[], ...actions: FaultAction[]) =>
  KINDS.filter(({ action, point }) => actions.includes(action) && points.includes(point));

/** No seed of the command has such a number. */
const SEED = 1_000_001;

const PLANS: readonly (readonly [string, SeedPlan])[] = [
  ["the program dies", planEach(kindsAt(PROGRAM_DIES, "kill program"), { seed: SEED })],
  ["a store dies", planEach(kindsAt(STORE_DIES, "kill clickhouse", "kill postgres"), { seed: SEED + 1 })],
  ["the disk is full", planEach(kindsAt(DISK_IS_FULL, "fill disk"), { seed: SEED + 2 })],
  [
    "a view fails and all is killed",
    planEach(kindsAt(["between-rows-and-views"], "break view"), { seed: SEED + 3 }),
  ],
];
const struck: PlannedFault[] = [];
let world: FaultWorld;

beforeAll(async () => {
  world = await openEmbeddedWorld();
});

afterAll(() => world?.[Symbol.asyncDispose]());

test.each(PLANS)(
  "every acknowledged line counts exactly once while %s",
  async (_, plan) => {
    const report = await runPlan(world, plan);
    struck.push(...report.faults);
    const { lost, doubled, mismatched, miscounted, stuck } = report;
    expect({ lost, doubled, mismatched, miscounted, stuck }, seedText(report)).toEqual({
      lost: 0,
      doubled: 0,
      mismatched: 0,
      miscounted: 0,
      stuck: 0,
    });
  },
  240_000,
);

test("the faults did strike: each kind at each of its points", () => {
  const planned = PLANS.flatMap(([, { faults }]) => faults);
  expect(planned).toHaveLength(4 + 4 + 2 + 1);
  expect(struck.map(nameOf).sort()).toEqual(planned.map(nameOf).sort());
});
