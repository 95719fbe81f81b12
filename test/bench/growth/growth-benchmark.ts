import { join } from "node:path";
import { rm } from "node:fs/promises";
import { connectApi } from "../../../deploy/demo/api-client.js";
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
import { growthReport, type GrowthRun, type GrowthStep } from "./growth-report.js";

/**
 * Imports `--events` at a time into one package; the imports continue one another, so that each overrides all before. The
 * last step has a peer: a new installation at the first step. The two are measured in turns, because storing 20 million
 * events takes minutes, in which a shared machine becomes faster or slower. Both have `--events` more in each further round.
 */
export const growthBenchmark: Benchmark = {
  name: "growth",
  summary:
    "cost of the next --events events with --stored events stored before, --rounds times at the last step, " +
    "in turns with a new installation at the first; --long: 100 million too",
  run: runGrowthBenchmark,
};

const LONG_STORED = 100_000_000;
/** Files that are only sent: the default level takes four times as long. */
const GZIP_LEVEL = 1;

async function runGrowthBenchmark(options: BenchOptions, context: BenchContext): Promise<BenchResult> {
  const bench = { ...options, ...context };
  const measureNew: MeasureNew = (measure) => measureProgram(bench, measure);
  return growthReport(await measureNew((grown) => runSteps(grown, measureNew)), options);
}

type MeasureNew = (measure: (measured: MeasuredProgram) => Promise<GrowthRun>) => Promise<GrowthRun>;

async function runSteps(grown: MeasuredProgram, measureNew: MeasureNew): Promise<GrowthRun> {
  const { events, stored, long, rounds } = grown;
  const targets = [...stored, ...(long ? [LONG_STORED] : [])].sort((a, b) => a - b);
  const last = targets.pop() ?? 0;
  const first = targets[0] ?? events;
  const large = await openInstallation(grown);
  const before: GrowthStep[] = [];
  for (const target of targets) {
    await large.growTo(target);
    before.push(await large.measureNext());
  }
  await large.growTo(last);
  return measureNew(async (fresh) => {
    const small = await openInstallation(fresh);
    await small.growTo(first);
    const run: GrowthRun = { before, last: [], peer: [] };
    for (let round = 0; round < rounds; round += 1) {
      run.last.push(await large.measureNext());
      run.peer.push(await small.measureNext());
    }
    return run;
  });
}

interface Installation {
  growTo(target: number): Promise<void>;
  measureNext(): Promise<GrowthStep>;
}

/** An installation without events. */
async function openInstallation(measured: MeasuredProgram): Promise<Installation> {
  const { events, onProgress } = measured;
  const importNext = await openImports(measured);
  let stored = 0;
  return {
    async growTo(target) {
      for (; stored < target; stored += events) {
        onProgress(`${whole(stored)} of ${whole(target)} events stored`);
        await importNext(stored);
      }
    },
    async measureNext() {
      onProgress(`measuring the next ${whole(events)} events with ${whole(stored)} stored`);
      const step = { stored, ...(await importNext(stored)) };
      stored += events;
      return step;
    },
  };
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
