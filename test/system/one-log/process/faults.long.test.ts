import { afterAll, beforeAll, expect, test } from "vitest";
import { nameOf, NOTHING_WRONG, seedText, totalsOf } from "../../../faults/imports/report.js";
import { runPlan } from "../../../faults/imports/run-seed.js";
import { EMBEDDED_FAULTS, type FaultAction, POWER_FAULTS } from "../../../faults/plans/fault-catalog.js";
import { planEach, type PlannedFault, type SeedPlan } from "../../../faults/plans/plan-seed.js";
import { openEmbeddedWorld } from "../../../faults/worlds/embedded-world.js";
import type { FaultWorld } from "../../../faults/worlds/fault-world.js";
import { describeOrSkip } from "../../../support/describe-or-skip.js";
import { makeLoopDisk, missingForLoopDisk } from "../../../support/program/loop-disk.js";

const missing = missingForLoopDisk();
/** A power cut takes all that a kill takes, and what was not written down. */
const DEATH: FaultAction = missing === undefined ? "cut power" : "kill program";

const KINDS = [...EMBEDDED_FAULTS.turns, ...POWER_FAULTS.turns].flat();
const kindsAt = (action: FaultAction, ...points: readonly string[]) =>
  points.flatMap((each) => KINDS.find((kind) => kind.action === action && kind.point === each) ?? []);

/** No seed of the command has such a number. */
const SEED = 1_000_001;

/** Where most can go wrong. `npm run test:faults -- --seeds 28` and `--power` meet every kind at every point. */
const DEATHS = [
  ...kindsAt(
    DEATH,
    "after-insert",
    "after-sync",
    "settlement-staged",
    "settlement-applied",
    "erasure-finished",
  ),
  ...kindsAt("kill clickhouse", "settlement-staged"),
  ...kindsAt("kill postgres", "after-insert"),
].map((kind) => ({ ...kind, delayMsMax: 0 }));
const PLANS: readonly (readonly [string, SeedPlan])[] = [
  ["the power is cut and stores die, and a client is erased whole", planEach(DEATHS, { seed: SEED })],
  ["the disk is full", planEach(kindsAt("fill disk", "before-append"), { seed: SEED + 1 })],
  [
    "a view fails and all is killed",
    planEach(kindsAt("break view", "between-rows-and-views"), { seed: SEED + 2 }),
  ],
];
const struck: PlannedFault[] = [];
let world: FaultWorld;

beforeAll(async () => {
  world = await openEmbeddedWorld(missing === undefined ? { disk: makeLoopDisk() } : {});
});

afterAll(() => world?.[Symbol.asyncDispose]());

test.each(PLANS)("every acknowledged line counts exactly once while %s", async (_, plan) => {
  const report = await runPlan(world, plan);
  struck.push(...report.faults);
  expect(totalsOf([report]), seedText(report)).toEqual(NOTHING_WRONG);
});

test("the faults did strike: each kind at each of its points", () => {
  const planned = PLANS.flatMap(([, { faults }]) => faults);
  expect(planned.length).toBeGreaterThanOrEqual(4 + 2 + 1 + 1);
  expect(struck.map(nameOf).sort()).toEqual(planned.map(nameOf).sort());
});

const NEED = { missing, ciRule: "With CI=true the power must be cut." };
describeOrSkip("the power of the machine", NEED, () => {
  test("was cut at five points", () => {
    expect(struck.filter(({ action }) => action === "cut power")).toHaveLength(5);
  });
});
