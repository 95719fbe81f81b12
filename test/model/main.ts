import { Command, Option } from "commander";
import { wholeNumber } from "../../deploy/commands/whole-number.js";
import { openEmbeddedWorld } from "../faults/worlds/embedded-world.js";
import { openKafkaWorld } from "../faults/worlds/kafka-world.js";
import type { ProcessEnvironment } from "../support/program/toolchain-process.js";
import { runModelSeed, type ModelReport } from "./run-model.js";

interface Options {
  log: keyof typeof WORLDS;
  seeds: number;
  from: number;
  steps: number;
  kills?: true;
}

const WORLDS = { embedded: openEmbeddedWorld, kafka: openKafkaWorld };

/** Stages are computed by hand alone, webhooks go to this machine, and live requests may be anybody's. */
const ENVIRONMENT: ProcessEnvironment = {
  FUNNEL_SCHEDULE: "0 0 29 2 *",
  WEBHOOK_ALLOW_PRIVATE_NETWORKS: "true",
  TRUSTED_PROXIES: "127.0.0.1",
};

const command = new Command("test:model")
  .description(
    "Does in random order what a user can do, in the program and in a plain model in memory, and compares them again and " +
      "again: aggregates, statistics, exports, companies and webhooks. Where they differ it prints the shortest steps " +
      "that it finds, and ends with status 1.",
  )
  .addOption(
    new Option(
      "--log <log>",
      "embedded: one program with its own stores; kafka: five programs and a broker of Java",
    )
      .choices(Object.keys(WORLDS))
      .default("embedded"),
  )
  .option("--seeds <count>", "how many seeds to run", wholeNumber, 20)
  .option("--from <seed>", "the first seed: the one to repeat", wholeNumber, 1)
  .option("--steps <count>", "steps of a seed", wholeNumber, 100)
  .option("--kills", "between steps a program is killed, and started again")
  .action(run);

async function run({ log, seeds, from, steps, kills }: Options): Promise<void> {
  await using world = await WORLDS[log]({ env: ENVIRONMENT });
  let failures = 0;
  for (let seed = from; seed < from + seeds; seed += 1) {
    const report = await runModelSeed(world, { seed, steps, kills: kills === true, note });
    process.stdout.write(`${textOf(report)}\n`);
    if (report.failure !== undefined) failures += 1;
  }
  process.stdout.write(`${seeds} seeds of ${steps} steps: ${failures} differ\n`);
  process.exitCode = failures > 0 ? 1 : 0;
}

function note(text: string): void {
  process.stdout.write(`${text.slice(0, MESSAGE_CHARACTERS)}\n`);
}

const MESSAGE_CHARACTERS = 3_000;

function textOf({ seed, steps, kills, durationMs, failure }: ModelReport): string {
  const line = `seed ${seed}: ${steps} steps, ${kills} kills, ${(durationMs / 1000).toFixed(1)} s`;
  if (failure === undefined) return `${line}: ok`;
  const list = failure.steps.map((step) => `  ${JSON.stringify(step)}`);
  return [`${line}: DIFFERS`, failure.message.slice(0, MESSAGE_CHARACTERS), ...list].join("\n");
}

await command.parseAsync();
