import { Command } from "commander";
import { wholeNumber } from "../../deploy/commands/whole-number.js";
import { startToolchain } from "../support/program/start-toolchain.js";
import { tail } from "../support/program/toolchain-process.js";
import { assertHealthy, openFuzzWorld, type FuzzWorld, fuzzRound, type FuzzTarget } from "./fuzz-world.js";
import { fuzzTargets } from "./targets/fuzz-targets.js";

const TARGETS = fuzzTargets({ linesMax: 3_000 });
const NAMES = TARGETS.map(({ name }) => name);

interface Options {
  minutes: number;
  seed: number;
  only?: string[];
}

const command = new Command("test:fuzz")
  .description(
    "Sends made-up input to a program of its own and checks what must hold of any: every line is imported or refused, " +
      "no answer is a 5xx or contradicts the API's document, exports can be read and agree, no chunk becomes a dead " +
      "letter, and the program stays. A failure prints its seed and a shrunk input. Ends with status 1 after one.",
  )
  .option("--minutes <count>", "no round begins after that", wholeNumber, 5)
  .option("--seed <number>", "of the first round; each later round has the next one", wholeNumber, 1)
  .option("--only <target...>", `some of: ${NAMES.join(", ")}`)
  .action(run);

async function run({ minutes, seed, only = NAMES }: Options): Promise<void> {
  const targets = TARGETS.filter(({ name }) => only.includes(name));
  await using toolchain = await startToolchain({ env: { TRUSTED_PROXIES: "127.0.0.1", LOG_LEVEL: "warn" } });
  const world = openFuzzWorld(toolchain, { prefix: "fuzz" });
  const until = Date.now() + minutes * 60_000;
  let failures = 0;
  let next = seed;
  for (; Date.now() < until; next += 1) failures += await runRound(world, targets, next);
  const { lines, requests } = world.sent;
  process.stdout.write(
    `seeds ${seed} to ${next - 1}: ${lines} lines, ${requests} requests, ${failures} failures\n`,
  );
  if (failures === 0) return;
  process.stdout.write(`the end of the program's log:\n${tail(toolchain.log())}\n`);
  process.exitCode = 1;
}

/** @returns how many of the targets failed */
async function runRound(world: FuzzWorld, targets: readonly FuzzTarget[], seed: number): Promise<number> {
  let failures = 0;
  for (const target of targets) {
    const failure = await fuzzRound(world, target, { seed });
    if (failure === undefined) continue;
    failures += 1;
    process.stdout.write(`${failure}\n`);
  }
  await assertHealthy(world);
  const { lines, requests } = world.sent;
  process.stdout.write(`seed ${seed}: ${failures} failures; ${lines} lines, ${requests} requests so far\n`);
  return failures;
}

await command.parseAsync();
