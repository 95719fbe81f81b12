import { Command, InvalidArgumentError, Option } from "commander";
import { BENCHMARKS } from "./benchmarks.js";
import { type BenchOptions, type BenchResult, type Benchmark, EVENT_LOGS } from "./common/benchmark.js";
import { parseBytes } from "../../schemas/formats.js";
import { ClosingStack } from "../../deploy/process/closing.js";
import { stopSignal } from "../../deploy/process/lifecycle.js";
import { StartFailure } from "../../deploy/process/start-failure.js";
import { wholeNumber } from "../../deploy/commands/whole-number.js";

interface CommandOptions extends BenchOptions {
  json: boolean;
}

/** `bench`: measures this program, each benchmark beside its peer in the same run. */
export function benchCommand(): Command {
  return new Command("bench")
    .argument("[names...]", "the benchmarks to run; without names, all of them")
    .option("--json", "print one JSON object with all results as the last line", false)
    .option("--events <count>", "number of generated events", wholeNumber, 1_000_000)
    .option("--seed <number>", "seed of the event generator", wholeNumber, 1)
    .option(
      "--rounds <count>",
      "how often this program and the peer are measured in turns; reports medians (growth: sums)",
      wholeNumber,
      1,
    )
    .option(
      "--overrides <percents>",
      "shares of overrides: 0, 10 and 100 (a second import of the same lines)",
      percents,
      [10],
    )
    .option("--packages <counts>", "numbers of packages that the lines name, such as 1,50", counts, [1])
    .option("--stored <counts>", "events stored before the next ones are measured", counts, [1e6, 5e6, 20e6])
    .option("--millions <count>", "look: how many million events are stored", wholeNumber, 5)
    .option(
      "--addresses <count>",
      "client addresses of look (default: 150,000 a million) and of import (default: 3,000,000)",
      wholeNumber,
    )
    .option("--data <folder>", "look: keeps the stored events there, for the next run of the same checkout")
    .option("--long", "growth: 100 million stored events as well", false)
    .option("--imports <count>", "number of small imports", wholeNumber, 1_000)
    .option(
      "--bytes <size>",
      "size of the body of memory and of the blob of pull, such as 2000000000 or 512MiB",
      byteSize,
      2_000_000_000,
    )
    .option("--rate <count>", "management requests per second", upTo(RATE_MAX), 500)
    .option("--views <count>", "page views of the dashboard per second", upTo(RATE_MAX), 50)
    .option("--redirects <count>", "redirects of live collection per second", upTo(REDIRECTS_MAX), 5_000)
    .option("--seconds <count>", "how long requests are sent", upTo(SECONDS_MAX), 20)
    .addOption(
      new Option(
        "--log <name>",
        "the event log: kafka measures the import on Kafka (KAFKA_BROKERS, or a broker with Java 17 and Maven) beside the embedded log, with every codec",
      )
        .choices(EVENT_LOGS)
        .default(EVENT_LOGS[0]),
    )
    .addHelpText("after", `\nBenchmarks:\n${BENCHMARKS.map(helpLine).join("\n")}`)
    .action(runBench);
}

/** Prints results to standard output and progress to standard error. */
async function runBench(names: readonly string[], { json, ...options }: CommandOptions): Promise<void> {
  const chosen = chooseBenchmarks(names);
  const stopped = stopSignal();
  const results: Record<string, BenchResult["json"]> = {};
  for (const benchmark of chosen) {
    const result = await runOne(benchmark, options, stopped);
    process.stdout.write(`${result.text}\n`);
    results[benchmark.name] = result.json;
  }
  if (json) process.stdout.write(`${JSON.stringify(results)}\n`);
}

/** Leaves no process and no file behind, also when the benchmark is stopped. */
async function runOne(
  benchmark: Benchmark,
  options: BenchOptions,
  stopped: Promise<NodeJS.Signals>,
): Promise<BenchResult> {
  await using open = new ClosingStack();
  const onProgress = (sentence: string) => void process.stderr.write(`${benchmark.name}: ${sentence}\n`);
  const outcome = await Promise.race([benchmark.run(options, { open, onProgress }), stopped]);
  if (typeof outcome !== "string") return outcome;
  onProgress("stopping");
  throw new StartFailure(`The benchmark ${benchmark.name} was stopped by ${outcome} before its end.`);
}

function chooseBenchmarks(names: readonly string[]): readonly Benchmark[] {
  const unknown = names.filter((name) => !BENCHMARKS.some((benchmark) => benchmark.name === name));
  if (unknown.length > 0) {
    const known = BENCHMARKS.map(({ name }) => name).join(", ");
    throw new StartFailure(`There is no benchmark ${unknown.join(", ")}: choose from ${known}.`);
  }
  return names.length === 0 ? BENCHMARKS : BENCHMARKS.filter(({ name }) => names.includes(name));
}

function helpLine({ name, summary }: Benchmark): string {
  return `  ${name.padEnd(12)}${summary}`;
}

const RATE_MAX = 5_000;
const REDIRECTS_MAX = 50_000;
const SECONDS_MAX = 600;

function upTo(max: number): (text: string) => number {
  return (text) => {
    const number = wholeNumber(text);
    if (number > max) throw new InvalidArgumentError(`It may be ${max} at most.`);
    return number;
  };
}

function counts(text: string): number[] {
  return text.split(",").map(wholeNumber);
}

function percents(text: string): number[] {
  const values = text.split(",").map(Number);
  if (text !== "" && values.every((value) => value >= 0 && value <= 100)) return values;
  throw new InvalidArgumentError("It must be percentages separated by commas, such as 0,10,100.");
}

function byteSize(text: string): number {
  const bytes = parseBytes(text);
  if (bytes !== undefined) return bytes;
  throw new InvalidArgumentError("It must be a size in bytes, or such as 512MiB.");
}
