import { join } from "node:path";
import { pause } from "../../../schemas/async/pause.js";
import { ACTIVE_IMPORTS_MAX } from "../../../api/features/imports/start-imports.js";
import type { EventImport } from "../../../schemas/records/import-store.js";
import { type ApiClient, connectApi } from "../../../deploy/demo/api-client.js";
import { generateBody } from "../../../deploy/demo/generate-events.js";
import type { BenchResult } from "../common/benchmark.js";
import { createBenchAccount } from "../common/create-bench-account.js";
import { mixOf, writeGzipFile } from "../common/event-files.js";
import { importFile } from "../common/import-file.js";
import { percentiles } from "../common/percentiles.js";
import { factTable, report } from "../common/report.js";
import { cpuSecondsOf, sampleUsage, type Usage } from "../usage/sample-usage.js";
import { type MeasuredProgram, programBenchmark } from "../common/measure-program.js";
import { secondsSince } from "../common/seconds-since.js";
import { makePackage } from "../common/make-packages.js";

const LARGE_IMPORTS = ACTIVE_IMPORTS_MAX;
const LARGE_SHARE = 0.2;
const SMALL_LINES = 10;

/** Small imports of one owner, one after the other, alone and then beside large ones of another owner. */
export const fairBenchmark = programBenchmark("fair", {
  summary: `time to \`done\` of ${SMALL_LINES} lines beside ${LARGE_IMPORTS} imports of another owner, each a fifth of --events`,
  measure: runFair,
  report: fairReport,
});

const SMALL_ALONE = 5;
const PAUSE_MS = 500;
const POLL_MS = 20;
/** As batch jobs do. Every 100 ms, the requests of 15 senders would take a quarter of two cores. */
const LARGE_POLL_MS = 1_000;
const DONE_MS_MAX = 3_600_000;

async function runFair({ program, folder, events, seed, onProgress }: MeasuredProgram): Promise<FairRun> {
  const { api: url } = await program.ready();
  const large = connectApi(url, await createBenchAccount(program.dataDir));
  const largeId = await makePackage(large, "large");
  const small = connectApi(url, await createBenchAccount(program.dataDir, SMALL_OWNER));
  const smallId = await makePackage(small, "small");
  const lines = Math.ceil(events * LARGE_SHARE);
  onProgress(`writing ${LARGE_IMPORTS} files of ${lines} events`);
  const paths = Array.from({ length: LARGE_IMPORTS }, (_, index) => join(folder, `${index}.ndjson.gz`));
  for (const [index, path] of paths.entries())
    await writeGzipFile(path, { events: lines, seed: seed + index, packageIds: [largeId], gzipLevel: 1 });
  onProgress("small imports alone");
  const importSmall = (number: number) => timeSmall(small, { packageId: smallId, seed: seed + number });
  const alone: SmallTimes[] = [];
  for (let number = 0; number < SMALL_ALONE; number += 1) alone.push(await importSmall(number));
  onProgress("small imports beside large ones");
  using sampler = sampleUsage(program.pid);
  const startedAt = performance.now();
  let running = true;
  const importing = Promise.all(
    paths.map((path) => importFile(large, { packageIds: [largeId], path, pollMs: LARGE_POLL_MS })),
  );
  const ended = importing.finally(() => (running = false));
  ended.catch(() => undefined);
  const beside: SmallTimes[] = [];
  while (running) {
    await pause(PAUSE_MS);
    const times = await importSmall(alone.length + beside.length);
    beside.push(times);
    onProgress(
      `enriched after ${Math.round(times.enrichedMs)} ms, done after ${Math.round(times.doneMs)} ms`,
    );
  }
  await ended;
  const largeSeconds = secondsSince(startedAt);
  return { alone, beside, largeLines: lines * LARGE_IMPORTS, largeSeconds, usage: sampler.finish() };
}

const SMALL_OWNER = "bench-small";

async function timeSmall(
  api: ApiClient,
  { packageId, seed }: { packageId: string; seed: number },
): Promise<SmallTimes> {
  const body = Buffer.concat([
    ...generateBody(mixOf({ events: SMALL_LINES, seed, packageIds: [packageId] })),
  ]);
  const startedAt = performance.now();
  const path = `/v2/packages/${SMALL_OWNER}/${packageId}/import`;
  const started = await api.importBody(path, body);
  let enrichedMs = 0;
  const onProgress = ({ events_total: events }: EventImport) => {
    if (events > 0 && enrichedMs === 0) enrichedMs = performance.now() - startedAt;
  };
  await api.pollToDone(started, { timeoutMs: DONE_MS_MAX, pollMs: POLL_MS, onProgress });
  return { enrichedMs, doneMs: performance.now() - startedAt };
}

/** The times of one small import, since its POST. */
export interface SmallTimes {
  enrichedMs: number;
  doneMs: number;
}

export interface FairRun {
  alone: readonly SmallTimes[];
  beside: readonly SmallTimes[];
  /** The lines of all large imports together. */
  largeLines: number;
  largeSeconds: number;
  /** While the large imports ran. */
  usage: Usage;
}

export function fairReport({ largeLines: events, largeSeconds: seconds, ...run }: FairRun): BenchResult {
  const [alone, beside] = [smallFacts(run.alone), smallFacts(run.beside)];
  const large = {
    events,
    seconds,
    events_per_second: events / seconds,
    cpu_seconds: cpuSecondsOf(run.usage),
  };
  return report({
    title: "fair: small imports",
    tables: [
      factTable("", [
        ["alone", alone],
        ["beside large ones", beside],
      ]),
      factTable("", [["the large imports", large]]),
    ],
    json: { alone, beside, large },
  });
}

function smallFacts(times: readonly SmallTimes[]) {
  const of = (name: keyof SmallTimes) => {
    const { p50, max } = percentiles(Float64Array.from(times, (each) => each[name]));
    return { p50, max };
  };
  return { imports: times.length, ms_to_enriched: of("enrichedMs"), ms_to_done: of("doneMs") };
}
