import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { PackageV1 } from "../../../schemas/contracts/package.js";
import { connectApi, type ApiClient } from "../../demo/api-client.js";
import { pause } from "../../../schemas/async/pause.js";
import type { Benchmark, BenchContext, BenchOptions, BenchResult } from "../common/benchmark.js";
import { createBenchAccount } from "../common/create-bench-account.js";
import { measureProgram, type MeasuredProgram } from "../common/measure-program.js";
import { runCurl, type CurlRun } from "../csv/csv-round.js";
import { pullReport } from "./pull-report.js";

/** A blob of an image through the collector, as clients get it that lose credentials over a redirect. */
export const pullBenchmark: Benchmark = {
  name: "pull",
  summary: "throughput of a blob of --bytes through live collection, beside curl of it from the registry",
  run: runPullBenchmark,
};

export interface PullRound {
  ours: CurlRun;
  registry: CurlRun;
}

const HOST = "cr.bench.example";
/** Buffers and compiled code are there after this. */
const WARM_UP_BYTES = 200_000_000;

async function runPullBenchmark(options: BenchOptions, context: BenchContext): Promise<BenchResult> {
  // The registry is at a loopback address.
  const variables = { COLLECT_ALLOW_PRIVATE_UPSTREAMS: "true" };
  return pullReport(await measureProgram({ ...options, ...context, variables }, runRounds), options);
}

async function runRounds({ program, bytes, rounds, onProgress }: MeasuredProgram): Promise<PullRound[]> {
  const { api: apiUrl, collect } = await program.ready();
  const api = connectApi(apiUrl, await createBenchAccount(program.dataDir));
  const registry = fork(fileURLToPath(new URL("./bare-registry.js", import.meta.url)));
  try {
    const [registryUrl] = (await once(registry, "message")) as [string];
    for (const size of [WARM_UP_BYTES, bytes]) await makeImage(api, `${registryUrl}/${size}`);
    // What was made is served within a second.
    await pause(1_000);
    const urls = { ours: collect, registry: registryUrl };
    onProgress(`warming both sides up with ${WARM_UP_BYTES / 1e6} MB`);
    await runRound({ ...urls, pid: program.pid, bytes: WARM_UP_BYTES });
    const done: PullRound[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      onProgress(`round ${round} of ${rounds}: ${bytes / 1e6} MB through ours, then from the registry`);
      done.push(await runRound({ ...urls, pid: program.pid, bytes }));
    }
    return done;
  } finally {
    registry.kill("SIGKILL");
  }
}

/** An image whose name says how large its blobs are. */
async function makeImage(api: ApiClient, backendUrl: string): Promise<void> {
  const { pathname } = new URL(backendUrl);
  await api.post<PackageV1>("/v1/packages", {
    name: `blob${pathname.slice(1)}`,
    shortDescription: "Made by the benchmark",
    libraryType: "docker",
    backendUrl,
    publicUrl: `https://${HOST}${pathname}`,
  });
}

interface RoundSetup {
  ours: string;
  registry: string;
  pid: number;
  bytes: number;
}

async function runRound({ ours, registry, pid, bytes }: RoundSetup): Promise<PullRound> {
  const get = (url: string) =>
    runCurl(pid, [
      `${url}/v2/${bytes}/blobs/sha256:${"0".repeat(64)}`,
      "-H",
      `Host: ${HOST}`,
      "-A",
      "crane/0",
    ]);
  const round = { ours: await get(ours), registry: await get(registry) };
  for (const { bytes: got } of Object.values(round))
    if (got !== bytes) throw new Error(`a blob of ${bytes} bytes came with ${got}`);
  return round;
}
