import { Readable } from "node:stream";
import { pause } from "../../../schemas/async/pause.js";
import { connectApi } from "../../../deploy/demo/api-client.js";
import { generateBody } from "../../../deploy/demo/generate-events.js";
import { createBenchAccount } from "../common/create-bench-account.js";
import { mixOf } from "../common/event-files.js";
import { megabytes } from "../common/format-numbers.js";
import { importStream } from "../common/import-file.js";
import { type MeasuredProgram, programBenchmark } from "../common/measure-program.js";
import { makePackages } from "../common/make-packages.js";
import { type MemoryRun, memoryReport } from "./memory-report.js";
import { recordMemory } from "./record-memory.js";

/** One large plain body, generated while it is sent: memory counts here, not time. */
export const memoryBenchmark = programBenchmark("memory", {
  summary: "resident memory of the program and its stores over an import of --bytes, idle before and after",
  measure: runMemory,
  report: memoryReport,
});

const IDLE_MS = 20_000;

async function runMemory({ program, bytes, seed, onProgress }: MeasuredProgram): Promise<MemoryRun> {
  const { api: url } = await program.ready();
  const api = connectApi(url, await createBenchAccount(program.dataDir));
  const packageIds = await makePackages(api, { name: "memory", count: 1 });
  using recorder = recordMemory(program.pid);
  onProgress(`idle for ${IDLE_MS / 1000} s`);
  await pause(IDLE_MS);
  recorder.startPhase("import");
  onProgress(`importing ${megabytes(bytes)}`);
  const body = Readable.from(blocksOf({ bytes, seed, packageIds }));
  const { record } = await importStream(api, { body, packageIds });
  recorder.startPhase("after");
  onProgress(`idle for ${IDLE_MS / 1000} s`);
  await pause(IDLE_MS);
  return { bytes, events: record.events_total, samples: recorder.samples };
}

const ENDLESS = 1_000_000_000;

interface Body {
  bytes: number;
  seed: number;
  packageIds: readonly string[];
}

function* blocksOf({ bytes, seed, packageIds }: Body): Generator<Buffer> {
  let sent = 0;
  for (const block of generateBody(mixOf({ events: ENDLESS, seed, packageIds }))) {
    yield block;
    sent += block.length;
    if (sent >= bytes) return;
  }
}
