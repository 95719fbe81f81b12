import { Command, Option } from "commander";
import { wholeNumber } from "../../deploy/commands/whole-number.js";
import { openEmbeddedWorld } from "./worlds/embedded-world.js";
import { openClusterWorld } from "./worlds/cluster-world.js";
import { runErasureSeed } from "./erasures/run-erasures.js";
import { CLUSTER_POWER_FAULTS, ERASURE_FAULTS, POWER_FAULTS } from "./plans/fault-catalog.js";
import { funnelRunText, funnelSeedText, isWrong } from "./funnel/funnel-report.js";
import { makeFolder, makeLoopDisk, missingForLoopDisk } from "../support/program/loop-disk.js";
import { openFunnelWorld } from "./funnel/funnel-world.js";
import { openServerWorld, startPostgresOn } from "./worlds/server-world.js";
import { openKafkaWorld } from "./worlds/kafka-world.js";
import { runText, seedText, totalsOf } from "./imports/report.js";
import { planFunnelSeed } from "./funnel/plan-funnel-seed.js";
import { runFunnelPlan } from "./funnel/run-funnel-seed.js";
import { runSeed } from "./imports/run-seed.js";

interface Options {
  log: "embedded" | "kafka";
  cluster?: true;
  brokers: "1" | "3";
  funnel?: true;
  erasures?: true;
  power?: true;
  server?: true;
  postgres?: true;
  seeds: number;
  from: number;
}

const WORLDS = {
  power: () => openEmbeddedWorld({ disk: makeLoopDisk() }),
  server: () => openServerWorld({ disk: makeLoopDisk() }),
  steadyServer: () => openServerWorld({ disk: makeFolder() }),
  servers: () =>
    openServerWorld({ disk: makeLoopDisk(), startPostgres: startPostgresOn, faults: POWER_FAULTS }),
  embedded: () => openEmbeddedWorld(),
  kafka: ({ brokers }: Pick<Options, "brokers">) => openKafkaWorld({ brokers: brokers === "3" ? 3 : 1 }),
  cluster: ({ brokers, power }: Pick<Options, "brokers" | "power">) =>
    openClusterWorld({ brokers: brokers === "3" ? 3 : 1, ...(power && { faults: CLUSTER_POWER_FAULTS }) }),
};

const command = new Command("test:faults")
  .description(
    "Imports from several senders at once while programs, their stores, their disk, their broker or its group fail at " +
      "the planned points, and checks afterwards that every acknowledged line counts exactly once. Ends with status 1 " +
      "when one does not.",
  )
  .addOption(
    new Option(
      "--log <log>",
      "embedded: one program with its own stores; kafka: five programs and brokers of Java",
    )
      .choices(["embedded", "kafka"])
      .default("embedded"),
  )
  .addOption(
    new Option(
      "--brokers <count>",
      "with --log kafka or --cluster; of 3, each seed of --log kafka harms another one",
    )
      .choices(["1", "3"])
      .default("1"),
  )
  .addOption(
    new Option(
      "--cluster",
      "on the ClickHouse servers of TEST_CLICKHOUSE_SHARDS and on Kafka: servers, whole shards and their keeper are killed " +
        "and frozen by the command of TEST_CLICKHOUSE_CONTROL, and disks are lost",
    ).conflicts("log"),
  )
  .addOption(
    new Option(
      "--funnel",
      "instead of imports: companies change their stages while the program, on its own stores, is killed as it computes " +
        "and delivers; checks that each change arrives at every webhook under one id with the same bytes, signed",
    ).conflicts(["log", "cluster"]),
  )
  .addOption(
    new Option(
      "--erasures",
      "clients are erased while their events are imported, in short rounds; compares aggregates, CSV and the tables with a model " +
        "that knows erasures. With --server its ClickHouse goes on when the program dies",
    ).conflicts(["cluster", "funnel", "power"]),
  )
  .addOption(
    new Option(
      "--power",
      "the program on a disk of its own, in a file: its power is cut, and what the kernel had not written down is lost; needs root. " +
        "With --cluster the command of TEST_CLICKHOUSE_CONTROL cuts the power of a server or of a whole shard",
    ).conflicts("log"),
  )
  .addOption(
    new Option(
      "--server",
      "with --power or --erasures: a ClickHouse server of somebody else's, on that disk, and the program elsewhere, which goes on",
    ).conflicts(["log", "cluster", "funnel"]),
  )
  .addOption(
    new Option(
      "--postgres",
      "with --power --server: a PostgreSQL server of somebody else's on that disk as well, which is cut with it",
    ).conflicts(["log", "cluster", "funnel"]),
  )
  .option("--seeds <count>", "how many seeds to run", wholeNumber, 20)
  .option("--from <seed>", "the first seed: the one to repeat", wholeNumber, 1)
  .action(async (options: Options) => {
    const isOnLoopDisk =
      options.cluster === undefined &&
      options.erasures === undefined &&
      (options.power || options.server || options.postgres);
    const missing = isOnLoopDisk ? missingForLoopDisk() : undefined;
    if (missing === undefined) await (options.funnel ? runFunnel(options) : runImports(options));
    else process.stderr.write(`SKIPPED: power cuts. ${missing}\n`);
  });

async function runImports(options: Options): Promise<void> {
  await using world = await WORLDS[worldOf(options)](options);
  await runSeeds(options, {
    run: (seed) => (options.erasures ? runErasureSeed : runSeed)(world, seed),
    line: seedText,
    summary: (reports) => runText(reports, options.erasures ? ERASURE_FAULTS : world.faults),
    isWrong: (reports) => Object.values(totalsOf(reports)).some((count) => count > 0),
  });
}

function worldOf({ cluster, erasures, server, postgres, power, log }: Options): keyof typeof WORLDS {
  if (erasures) return server ? "steadyServer" : log;
  return postgres ? "servers" : server ? "server" : cluster ? "cluster" : power ? "power" : log;
}

async function runFunnel(options: Options): Promise<void> {
  await using world = await openFunnelWorld(options.power ? { disk: makeLoopDisk() } : {});
  await runSeeds(options, {
    run: (seed) => runFunnelPlan(world, planFunnelSeed(seed, world.action)),
    line: funnelSeedText,
    summary: (reports) => funnelRunText(reports, world.action),
    isWrong,
  });
}

interface Seeds<Report> {
  run: (seed: number) => Promise<Report>;
  line: (report: Report) => string;
  summary: (reports: readonly Report[]) => string;
  isWrong: (reports: readonly Report[]) => boolean;
}

async function runSeeds<Report extends { faults: unknown[] }>(
  { seeds, from }: Options,
  { run, line, summary, isWrong: isAnyWrong }: Seeds<Report>,
): Promise<void> {
  const reports: Report[] = [];
  for (let seed = from; seed < from + seeds; seed++) {
    const report = await run(seed);
    reports.push(report);
    process.stdout.write(`${line(report)}\n`);
  }
  process.stdout.write(`${summary(reports)}\n`);
  process.exitCode = isAnyWrong(reports) || !reports.some(({ faults }) => faults.length > 0) ? 1 : 0;
}

await command.parseAsync();
