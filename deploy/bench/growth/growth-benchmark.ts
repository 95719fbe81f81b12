import { join } from "node:path";
import { rm } from "node:fs/promises";
import { connectApi } from "../../demo/api-client.js";
import { awaitMerges } from "../common/await-merges.js";
import type { Benchmark, BenchOptions, BenchResult, BenchContext } from "../common/benchmark.js";
import { createBenchAccount } from "../common/create-bench-account.js";
import { writeGzipFile } from "../common/event-files.js";
import { whole } from "../common/format-numbers.js";
import { sampleUsage } from "../usage/sample-usage.js";
import { measureProgram, type MeasuredProgram } from "../common/measure-program.js";
import { makePackages } from "../common/make-packages.js";
import { measureImport, type ImportSetup } from "../import/import-round.js";
import { countParts } from "./count-parts.js";
import { growthReport, type GrowthStep } from "./growth-report.js";

/** Imports `--events` at a time into one package; the imports continue one another, so that each overrides all before. */
export const growthBenchmark: Benchmark = {
  name: "growth",
  summary: "cost of the next --events events with --stored events stored before; --long: 100 million too",
  run: runGrowthBenchmark,
};

const LONG_STORED = 100_000_000;
/** Files that are only sent: the default level takes four times as long. */
const GZIP_LEVEL = 1;

async function runGrowthBenchmark(options: BenchOptions, context: BenchContext): Promise<BenchResult> {
  return growthReport(await measureProgram({ ...options, ...context }, runSteps), options);
}

async function runSteps(measured: MeasuredProgram): Promise<GrowthStep[]> {
  const { events, stored: wanted, long, onProgress } = measured;
  const next = await openImports(measured);
  const steps: GrowthStep[] = [];
  let stored = 0;
  for (const target of [...wanted, ...(long ? [LONG_STORED] : [])].sort((a, b) => a - b)) {
    for (; stored < target; stored += events) {
      onProgress(`${whole(stored)} of ${whole(target)} events stored`);
      await next(stored);
    }
    onProgress(`measuring the next ${whole(events)} events with ${whole(stored)} stored`);
    steps.push({ stored, ...(await next(stored)) });
    stored += events;
  }
  return steps;
}

/** Imports the lines from a number on, and waits until ClickHouse has merged. */
async function openImports({
  program,
  folder,
  events,
  seed,
}: MeasuredProgram): Promise<(startAt: number) => Promise<Omit<GrowthStep, "stored">>> {
  const { api: url, clickhouse: clickhouseUrl, metrics: metricsUrl } = await program.ready();
  const api = connectApi(url, await createBenchAccount(program.dataDir));
  const packageIds = await makePackages(api, { name: "grown", count: 1 });
  const setup: ImportSetup = { api, clickhouseUrl, metricsUrl, pid: program.pid, folder };
  const path = join(folder, "next.ndjson.gz");
  return async (startAt) => {
    await writeGzipFile(path, { events, seed, packageIds, startAt, gzipLevel: GZIP_LEVEL });
    await awaitMerges(clickhouseUrl);
    const partsBefore = await countParts(clickhouseUrl);
    using untilMerged = sampleUsage(program.pid);
    const { secondsToDone, inserts, usage } = await measureImport(setup, { path, events, packageIds });
    const partsAtDone = await countParts(clickhouseUrl);
    await awaitMerges(clickhouseUrl);
    const measured = { secondsToDone, inserts, usage, usageUntilMerged: untilMerged.finish() };
    await rm(path);
    return { ...measured, partsBefore, partsAtDone };
  };
}
