import { afterAll, beforeAll, expect, test } from "vitest";
import { openEmbeddedWorld } from "../../../faults/embedded-world.js";
import { EMBEDDED_FAULTS, type FaultAction } from "../../../faults/fault-catalog.js";
import type { FaultWorld } from "../../../faults/fault-world.js";
import { planEach, type PlannedFault, type SeedPlan } from "../../../faults/plan-seed.js";
import { nameOf, seedText } from "../../../faults/report.js";
import { runPlan } from "../../../faults/run-seed.js";

const KINDS = EMBEDDED_FAULTS.turns.flat();
const kindsOf = (...actions: FaultAction[]) => KINDS.filter(({ action }) => actions.includes(action));

/** No seed of the command has such a number. */
const SEED = 1_000_001;

/** Each kind once; `npm run test:faults -- --seeds 200` draws many at random. */
const PLANS: readonly (readonly [string, SeedPlan])[] = [
  ["the program dies at every point", planEach(kindsOf("kill program"), { seed: SEED })],
  ["a store dies at every point", planEach(kindsOf("kill clickhouse", "kill postgres"), { seed: SEED + 1 })],
  ["the disk is full at every point", planEach(kindsOf("fill disk"), { seed: SEED + 2 })],
  ["a view fails and all is killed", planEach(kindsOf("break view"), { seed: SEED + 3 })],
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
  expect(struck.map(nameOf).sort()).toEqual(KINDS.map(nameOf).sort());
});
