import { afterAll, beforeAll, expect, test } from "vitest";
import type { FaultPoint } from "../../schemas/fault-point.js";
import { KAFKA_FAULTS, type FaultAction, type FaultKind } from "../faults/plans/fault-catalog.js";
import type { FaultWorld } from "../faults/worlds/fault-world.js";
import { openKafkaWorld } from "../faults/worlds/kafka-world.js";
import { planEach, type PlannedFault } from "../faults/plans/plan-seed.js";
import { nameOf, seedText } from "../faults/imports/report.js";
import { runPlan } from "../faults/imports/run-seed.js";
import { describeWithJava } from "../support/broker/describe-with-broker.js";

/** `npm run test:faults -- --log kafka --seeds 100` draws many plans, at all points. */
const KINDS: readonly (readonly [string, readonly (readonly [FaultAction, FaultPoint])[]])[] = [
  [
    "an enricher froze, the broker died, and a program died",
    [
      ["freeze program", "after-range"],
      ["kill broker", "before-upload-complete"],
      ["kill program", "after-insert"],
    ],
  ],
  [
    "an enricher left its group, the group was refused, and ClickHouse died",
    [
      ["leave group", "before-insert"],
      ["refuse group", "after-range"],
      ["kill clickhouse", "settlement-staged"],
    ],
  ],
];

const kindOf = ([action, point]: readonly [FaultAction, FaultPoint]) =>
  KAFKA_FAULTS.turns.flat().find((kind) => kind.action === action && kind.point === point) as FaultKind;

/** No seed of the command has such a number. */
const SEED = 1_000_001;
const PLANS = KINDS.map(
  ([name, kinds], index) => [name, planEach(kinds.map(kindOf), { seed: SEED + index })] as const,
);

describeWithJava("faults on a Kafka cluster", () => {
  const struck: PlannedFault[] = [];
  let world: FaultWorld;

  beforeAll(async () => {
    world = await openKafkaWorld();
  }, 300_000);

  afterAll(() => world?.[Symbol.asyncDispose]());

  test.each(PLANS)(
    "every acknowledged line counts exactly once although %s",
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

  test("the faults did strike: each kind at its point", () => {
    const planned = PLANS.flatMap(([, { faults }]) => faults);
    expect(struck.map(nameOf).sort()).toEqual(planned.map(nameOf).sort());
  });
});
