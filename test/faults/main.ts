import { Command, InvalidArgumentError } from "commander";
import { openFaultWorld } from "./fault-world.js";
import { runText, seedText, totalsOf } from "./report.js";
import { runSeed, type SeedReport } from "./run-seed.js";

interface Options {
  seeds: number;
  from: number;
}

const command = new Command("test:faults")
  .description(
    "Imports from several senders at once while the program, its stores or its disk fail at the planned points, and " +
      "checks afterwards that every acknowledged line counts exactly once. Ends with status 1 when one does not.",
  )
  .option("--seeds <count>", "how many seeds to run", wholeNumber, 20)
  .option("--from <seed>", "the first seed: the one to repeat", wholeNumber, 1)
  .action(async ({ seeds, from }: Options) => {
    const reports = await runSeeds(seeds, from);
    process.stdout.write(`${runText(reports)}\n`);
    const wrong = Object.values(totalsOf(reports)).some((count) => count > 0);
    const struck = reports.some(({ faults }) => faults.length > 0);
    process.exitCode = wrong || !struck ? 1 : 0;
  });

async function runSeeds(seeds: number, from: number): Promise<SeedReport[]> {
  await using world = await openFaultWorld();
  const reports: SeedReport[] = [];
  for (let seed = from; seed < from + seeds; seed++) {
    const report = await runSeed(world, seed);
    reports.push(report);
    process.stdout.write(`${seedText(report)}\n`);
  }
  return reports;
}

function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Give a whole number of at least 1.");
}

await command.parseAsync();
