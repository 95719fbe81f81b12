import { afterAll, beforeAll, expect, test } from "vitest";
import type { FaultWorld } from "../faults/fault-world.js";
import { openKafkaWorld } from "../faults/kafka-world.js";
import type { PlannedFault } from "../faults/plan-seed.js";
import { seedText } from "../faults/report.js";
import { runSeed } from "../faults/run-seed.js";
import { describeWithJava } from "../support/broker/describe-with-broker.js";

/**
 * Between them: a frozen enricher, a broker that dies, an enricher that leaves its group, a group refused, and ordinary
 * deaths. `npm run test:faults -- --log kafka --seeds 100` runs many.
 */
const SEEDS = [7, 9, 12, 14];

describeWithJava("faults on a Kafka cluster", () => {
  const struck: PlannedFault[] = [];
  let world: FaultWorld;

  beforeAll(async () => {
    world = await openKafkaWorld();
  }, 300_000);

  afterAll(() => world?.[Symbol.asyncDispose]());

  test.each(SEEDS)(
    "every acknowledged line counts exactly once, whatever befell the cluster (seed %i)",
    async (seed) => {
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
    },
    240_000,
  );

  test("the faults did strike: a broker and a group were harmed in each way", () => {
    const actions = new Set(struck.map(({ action }) => action));
    expect([...actions].sort()).toEqual([
      "freeze program",
      "kill broker",
      "kill clickhouse",
      "kill program",
      "leave group",
      "refuse group",
    ]);
  });
});
