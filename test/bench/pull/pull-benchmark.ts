import { fork } from "node:child_process";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { PackageV1 } from "../../../schemas/contracts/package.js";
import { connectApi, type ApiClient } from "../../../deploy/demo/api-client.js";
import { pause } from "../../../schemas/async/pause.js";
import type { BenchResult } from "../common/benchmark.js";
import { createBenchAccount } from "../common/create-bench-account.js";
import { programBenchmark, type MeasuredProgram } from "../common/measure-program.js";
import { megabytes, timesOf } from "../common/format-numbers.js";
import { overRounds } from "../common/median.js";
import { factTable, report } from "../common/report.js";
import { type CurlRun, megabytesPerSecond, runCurl } from "../common/run-curl.js";

/** A blob of an image through the collector, as clients get it that lose credentials over a redirect. */
export const pullBenchmark = programBenchmark("pull", {
  summary: "throughput of a blob of --bytes through live collection, beside curl of it from the registry",
  // The registry is at a loopback address.
  variables: { COLLECT_ALLOW_PRIVATE_UPSTREAMS: "true" },
  measure: runRounds,
  report: pullReport,
});

const HOST = "cr.bench.example";
const IMAGE = "bench/blob";
const BLOB_PART = Buffer.alloc(1_000_000, "blob");

async function runRounds({
  program,
  folder,
  bytes,
  rounds,
  onProgress,
}: MeasuredProgram): Promise<PullRound[]> {
  const { api: apiUrl, collect } = await program.ready();
  const api = connectApi(apiUrl, await createBenchAccount(program.dataDir));
  const file = await writeBlob(join(folder, "blob"), bytes);
  const registry = fork(fileURLToPath(new URL("./bare-registry.js", import.meta.url)), [file]);
  try {
    const [registryUrl] = (await once(registry, "message")) as [string];
    await makeImage(api, registryUrl);
    // A new image is served within a second.
    await pause(1_000);
    const setup = { ours: collect, registry: registryUrl, pid: program.pid, bytes };
    onProgress("warming both sides up");
    await runRound(setup);
    const done: PullRound[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      onProgress(`round ${round} of ${rounds}: ${bytes / 1e6} MB through ours, then from the registry`);
      done.push(await runRound(setup));
    }
    return done;
  } finally {
    registry.kill("SIGKILL");
  }
}

async function writeBlob(path: string, bytes: number): Promise<string> {
  await using file = await open(path, "w");
  for (let left = bytes; left > 0; left -= BLOB_PART.length)
    await file.write(BLOB_PART, 0, Math.min(left, BLOB_PART.length));
  return path;
}

async function makeImage(api: ApiClient, registryUrl: string): Promise<void> {
  await api.post<PackageV1>("/v1/packages", {
    name: "blob",
    shortDescription: "Made by the benchmark",
    libraryType: "docker",
    backendUrl: `${registryUrl}/${IMAGE}`,
    publicUrl: `https://${HOST}/${IMAGE}`,
  });
}

export interface PullRound {
  ours: CurlRun;
  registry: CurlRun;
}

interface RoundSetup {
  ours: string;
  registry: string;
  pid: number;
  bytes: number;
}

async function runRound({ ours, registry, pid, bytes }: RoundSetup): Promise<PullRound> {
  const path = `/v2/${IMAGE}/blobs/sha256:${"0".repeat(64)}`;
  const get = (url: string) => runCurl(pid, [`${url}${path}`, "-H", `Host: ${HOST}`, "-A", "crane/0"]);
  const round = { ours: await get(ours), registry: await get(registry) };
  for (const { bytes: got } of Object.values(round))
    if (got !== bytes) throw new Error(`a blob of ${bytes} bytes came with ${got}`);
  return round;
}

/** `ratio`: our throughput over that of the registry. */
export function pullReport(rounds: readonly PullRound[], { bytes }: { bytes: number }): BenchResult {
  const { ratio, registry, ...ours } = overRounds(
    rounds.map((round) => ({
      megabytes_per_second: megabytesPerSecond(round.ours),
      cpu_cores: round.ours.usage.service.cpuSeconds / round.ours.seconds,
      resident_before_bytes: round.ours.usage.service.residentBeforeBytes,
      resident_max_bytes: round.ours.usage.service.residentMaxBytes,
      registry: { megabytes_per_second: megabytesPerSecond(round.registry) },
      ratio: megabytesPerSecond(round.ours) / megabytesPerSecond(round.registry),
    })),
  );
  return report({
    title: `pull: a blob of ${megabytes(bytes)}, ${timesOf(rounds.length)}`,
    tables: [
      factTable("", [
        ["through this program", ours],
        ["from the registry", registry],
      ]),
    ],
    notes: [`${ratio.toFixed(2)} of the throughput of the registry.`],
    json: { bytes, rounds: rounds.length, ...ours, peers: { registry }, ratio },
  });
}
