import { afterAll, beforeAll, expect, test } from "vitest";
import { openEmbeddedWorld } from "../../../faults/worlds/embedded-world.js";
import { EMBEDDED_FAULTS, type FaultAction } from "../../../faults/plans/fault-catalog.js";
import type { FaultWorld } from "../../../faults/worlds/fault-world.js";
import { planEach, type PlannedFault, type SeedPlan } from "../../../faults/plans/plan-seed.js";
import { nameOf, NOTHING_WRONG, seedText, totalsOf } from "../../../faults/imports/report.js";
import { runPlan } from "../../../faults/imports/run-seed.js";

const KINDS = EMBEDDED_FAULTS.turns.flat();
const kindsAt = (action: FaultAction, ...points: readonly string[]) =>
  KINDS.filter((kind) => kind.action === action && points.includes(kind.point));

/** No seed of the command has such a number. */
const SEED = 1_000_001;

/** Where most can go wrong. `npm run test:faults -- --seeds 28` meets every kind at every point. */
const DEATHS = [
  ...kindsAt("kill program", "after-insert", "settlement-staged"),
  ...kindsAt("kill clickhouse", "settlement-staged"),
  ...kindsAt("kill postgres", "after-insert"),
];
const PLANS: readonly (readonly [string, SeedPlan])[] = [
  ["the program and its stores die", planEach(DEATHS, { seed: SEED })],
  ["the disk is full", planEach(kindsAt("fill disk", "before-append"), { seed: SEED + 1 })],
  [
    "a view fails and all is killed",
    planEach(kindsAt("break view", "between-rows-and-views"), { seed: SEED + 2 }),
  ],
];
const struck: PlannedFault[] = [];
let world: FaultWorld;

beforeAll(async () => {
  world = await openEmbeddedWorld();
});

afterAll(() => world?.[Symbol.asyncDispose]());

test.each(PLANS)("every acknowledged line counts exactly once while %s", async (_, plan) => {
  const report = await runPlan(world, plan);
  struck.push(...report.faults);
  expect(totalsOf([report]), seedText(report)).toEqual(NOTHING_WRONG);
});

test("the faults did strike: each kind at each of its points", () => {
  const planned = PLANS.flatMap(([, { faults }]) => faults);
  expect(planned).toHaveLength(4 + 1 + 1);
  expect(struck.map(nameOf).sort()).toEqual(planned.map(nameOf).sort());
});
