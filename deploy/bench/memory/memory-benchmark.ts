import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { EventImport } from "../../../schemas/records/import-store.js";
import { connectApi, type ApiClient } from "../../demo/api-client.js";
import { generateBody } from "../../demo/generate-events.js";
import type { Benchmark, BenchOptions, BenchResult, BenchContext } from "../common/benchmark.js";
import { createBenchAccount } from "../common/create-bench-account.js";
import { mixOf } from "../common/event-files.js";
import { megabytes } from "../common/format-numbers.js";
import { postStream } from "../common/post-file.js";
import { measureProgram, type MeasuredProgram } from "../common/measure-program.js";
import { makePackages } from "../import/import-round.js";
import { importPath } from "../import/import-variants.js";
import { memoryReport, type MemoryRun } from "./memory-report.js";
import { recordMemory } from "./record-memory.js";

/** One large plain body, generated while it is sent: memory counts here, not time. */
export const memoryBenchmark: Benchmark = {
  name: "memory",
  summary: "resident memory of the program and its stores over an import of --bytes, idle before and after",
  run: runMemoryBenchmark,
};

const IDLE_MS = 20_000;
const DONE_MS_MAX = 3_600_000;

async function runMemoryBenchmark(options: BenchOptions, context: BenchContext): Promise<BenchResult> {
  return memoryReport(await measureProgram({ ...options, ...context }, runMemory));
}

async function runMemory({ program, bytes, seed, onProgress }: MeasuredProgram): Promise<MemoryRun> {
  const { api: url } = await program.ready();
  const api = connectApi(url, await createBenchAccount(program.dataDir));
  const packageIds = await makePackages(api, { name: "memory", count: 1 });
  using recorder = recordMemory(program.pid);
  onProgress(`idle for ${IDLE_MS / 1000} s`);
  await sleep(IDLE_MS);
  recorder.startPhase("import");
  onProgress(`importing ${megabytes(bytes)}`);
  const { status, events_total: events } = await importBytes(api, { bytes, seed, packageIds });
  if (status !== "done") throw new Error(`the import ended as ${status}`);
  recorder.startPhase("after");
  onProgress(`idle for ${IDLE_MS / 1000} s`);
  await sleep(IDLE_MS);
  return { bytes, events, samples: recorder.samples };
}

interface Body {
  bytes: number;
  seed: number;
  packageIds: readonly string[];
}

async function importBytes(api: ApiClient, body: Body): Promise<EventImport> {
  const headers = { Authorization: `Bearer ${api.token}`, "Content-Type": "application/ndjson" };
  const { text } = await postStream({
    url: new URL(importPath(body.packageIds), api.url),
    headers,
    body: Readable.from(blocksOf(body)),
  });
  return api.pollToDone(JSON.parse(text) as EventImport, { timeoutMs: DONE_MS_MAX });
}

const ENDLESS = 1_000_000_000;

function* blocksOf({ bytes, seed, packageIds }: Body): Generator<Buffer> {
  let sent = 0;
  for (const block of generateBody(mixOf({ events: ENDLESS, seed, packageIds }))) {
    yield block;
    sent += block.length;
    if (sent >= bytes) return;
  }
}
