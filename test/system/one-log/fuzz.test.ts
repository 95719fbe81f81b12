import { afterAll, beforeAll, expect, test } from "vitest";
import { fuzzRound, assertHealthy, openFuzzWorld, type FuzzWorld } from "../../fuzz/fuzz-world.js";
import { fuzzTargets } from "../../fuzz/targets/fuzz-targets.js";
import { sharedProgram } from "../../support/program/program.js";

/** `npm run test:fuzz` draws others, and many more. */
const SEED = 20;
const RUNS: Record<string, number> = { "import-lines": 1, "formatted-files": 1 };
const REQUESTS = 40;

let world: FuzzWorld;

beforeAll(async () => {
  world = openFuzzWorld(await sharedProgram(), { prefix: "fuzzed" });
});

afterAll(() => assertHealthy(world));

test.each(fuzzTargets({ linesMax: 100 }))("keeps every promise for made-up $name", async (target) => {
  expect(await fuzzRound(world, target, { seed: SEED, runs: RUNS[target.name] ?? REQUESTS })).toBeUndefined();
});
