import { afterAll, beforeAll, expect, test } from "vitest";
import type { FaultPoint } from "../../schemas/fault-point.js";
import { KAFKA_FAULTS, type FaultAction, type FaultKind } from "../faults/plans/fault-catalog.js";
import type { FaultWorld } from "../faults/worlds/fault-world.js";
import { openKafkaWorld } from "../faults/worlds/kafka-world.js";
import { planEach } from "../faults/plans/plan-seed.js";
import { nameOf, NOTHING_WRONG, seedText, totalsOf } from "../faults/imports/report.js";
import { runPlan } from "../faults/imports/run-seed.js";
import { describeWithJava } from "../broker/suite/describe-with-broker.js";

/** `npm run test:faults -- --log kafka --seeds 100` draws many plans, at all points. */
const KINDS: readonly (readonly [FaultAction, FaultPoint])[] = [
  ["freeze program", "after-range"],
  ["kill broker", "before-upload-complete"],
  ["leave group", "before-insert"],
];

const kindOf = ([action, point]: readonly [FaultAction, FaultPoint]) =>
  KAFKA_FAULTS.turns.flat().find((kind) => kind.action === action && kind.point === point) as FaultKind;

/** No seed of the command has such a number. */
const SEED = 1_000_001;
const PLAN = planEach(KINDS.map(kindOf), { seed: SEED });

describeWithJava("faults on a Kafka cluster", () => {
  let world: FaultWorld;

  beforeAll(async () => {
    world = await openKafkaWorld();
  });

  afterAll(() => world?.[Symbol.asyncDispose]());

  test("every acknowledged line counts exactly once although an enricher froze, the broker died, and an enricher left its group", async () => {
    const report = await runPlan(world, PLAN);
    expect(totalsOf([report]), seedText(report)).toEqual(NOTHING_WRONG);
    expect(report.faults.map(nameOf).sort(), "the faults did strike, each at its point").toEqual(
      PLAN.faults.map(nameOf).sort(),
    );
  });
});
