import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { CODECS } from "../../../schemas/records/raw-chunk.js";
import { connectApi } from "../../../deploy/demo/api-client.js";
import type { ClosingStack } from "../../../deploy/process/closing.js";
import { type BenchContext, type BenchOptions, type BenchResult, EVENT_LOGS } from "../common/benchmark.js";
import { createBenchAccount } from "../common/create-bench-account.js";
import { writeGzipFile } from "../common/event-files.js";
import { type Program, spawnProgram } from "../common/spawn-program.js";
import { makeTemporaryFolder } from "../common/temporary-folder.js";
import { sampleUsage } from "../usage/sample-usage.js";
import { type BenchBroker, openBenchBroker } from "./bench-broker.js";
import { measureCodecs } from "./codec-costs.js";
import { makePackages } from "../common/make-packages.js";
import { MANY_ADDRESSES } from "./import-variants.js";
import { measureImport } from "./import-round.js";
import { type LogTurn, type LogVariant, logReport } from "./log-report.js";

// With another seed, as in the benchmark of one log.
const WARM_UP_EVENTS = 60_000;

interface Setup {
  folder: string;
  broker: BenchBroker;
  /** Starts the names of all topics and groups. */
  prefix: string;
  events: number;
  seed: number;
  addresses: number;
  open: ClosingStack;
}

/**
 * Measures the import on the embedded log and on Kafka, with each codec, in turns. Every turn has its own program,
 * stores and topics, so that none affects another.
 */
export async function runLogBenchmark(
  { events, seed, rounds, addresses = MANY_ADDRESSES }: BenchOptions,
  { open, onProgress }: BenchContext,
): Promise<BenchResult> {
  const { path: folder } = open.use(makeTemporaryFolder());
  const broker = await openBenchBroker({ folder, open, onProgress });
  const prefix = `bench-${randomUUID()}.`;
  open.defer(() => broker.clear(prefix));
  const turns: LogTurn[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    for (const variant of variantsOf(round)) {
      onProgress(`round ${round} of ${rounds}: ${variant.log} log, codec ${variant.codec}`);
      turns.push(await runTurn(variant, { folder, broker, prefix, events, seed, addresses, open }));
    }
  }
  return logReport({ turns, events, rounds, costs: await measureCodecs(seed) });
}

/** Every other round runs in reverse order, so that slow changes of the machine affect all variants equally. */
function variantsOf(round: number): LogVariant[] {
  const variants = CODECS.flatMap((codec) => EVENT_LOGS.map((log) => ({ log, codec })));
  return round % 2 === 1 ? variants : variants.reverse();
}

async function runTurn({ log, codec }: LogVariant, setup: Setup): Promise<LogTurn> {
  const { folder, broker, open } = setup;
  const id = randomUUID();
  const dataDir = join(folder, id);
  const prefix = `${setup.prefix}${id}.`;
  const kafka = { KAFKA_BROKERS: broker.brokers, KAFKA_TOPIC_PREFIX: prefix, KAFKA_CREATE_TOPICS: "true" };
  const program = open.use(spawnProgram(dataDir, { LOG_CODEC: codec, ...(log === "kafka" && kafka) }));
  const measured = await program.whileRunning(
    measureTurn(program, { ...setup, file: join(folder, `${id}.gz`) }),
  );
  await program[Symbol.asyncDispose]();
  if (log === "kafka") await broker.clear(prefix);
  await rm(dataDir, { recursive: true, force: true });
  return { log, codec, ...measured };
}

async function measureTurn(
  program: Program,
  { broker, events, seed, addresses, file }: Setup & { file: string },
) {
  const { api: url, clickhouse: clickhouseUrl, metrics: metricsUrl } = await program.ready();
  const api = connectApi(url, await createBenchAccount(program.dataDir));
  const importOf = async (mix: { events: number; seed: number }) => {
    const packageIds = await makePackages(api, { name: `of-${mix.events}-events`, count: 1 });
    const { path } = await writeGzipFile(file, { ...mix, packageIds, addresses });
    const setup = { api, clickhouseUrl, metricsUrl, pid: program.pid };
    return measureImport(setup, { path, events: mix.events, packageIds });
  };
  await importOf({ events: WARM_UP_EVENTS, seed: seed + 1 });
  using sampler = broker.pid === undefined ? undefined : sampleUsage(broker.pid);
  const run = await importOf({ events, seed });
  await rm(file);
  return { ...run, broker: sampler?.finish().service };
}
