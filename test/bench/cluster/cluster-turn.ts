import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { connectApi } from "../../../deploy/demo/api-client.js";
import type { ClosingStack } from "../../../deploy/process/closing.js";
import { awaitMerges } from "../common/await-merges.js";
import { OWNER, createBenchAccount } from "../common/create-bench-account.js";
import { writeGzipFile } from "../common/event-files.js";
import { importFile } from "../common/import-file.js";
import { makePackage } from "../common/make-packages.js";
import { runAdmin } from "../../support/program/run-admin.js";
import { type Program, spawnProgram } from "../common/spawn-program.js";
import { runCurl } from "../common/run-curl.js";
import { type Usage, sampleUsage } from "../usage/sample-usage.js";
import type { BenchServers } from "./open-layout.js";
import { startServerCpu } from "./server-cpu.js";

/** An import, or an export of what it stored. */
export interface Measured {
  seconds: number;
  /** The usage of the program, its PostgreSQL, and this process; the servers of ClickHouse are not its own. */
  usage: Usage;
  /** CPU seconds of each server of ClickHouse. */
  servers: readonly number[];
}

/** One layout, measured once. */
export interface ClusterTurn {
  layout: string;
  import: Measured;
  /** Until merges are over, which an import leaves behind. */
  settled: readonly number[];
  export: Measured & { bytes: number };
}

export interface TurnSetup {
  folder: string;
  events: number;
  seed: number;
  open: ClosingStack;
}

// Enough for the just-in-time compiler. Another seed, so that no cache has the clients of the measured import.
const WARM_UP_EVENTS = 60_000;

/** Starts the program on the servers, imports a file and exports it again. */
export async function runClusterTurn(servers: BenchServers, setup: TurnSetup): Promise<ClusterTurn> {
  const dataDir = join(setup.folder, randomUUID());
  const program = setup.open.use(spawnProgram(dataDir, servers.variables));
  const turn = await program.whileRunning(measureTurn(program, { ...setup, servers }));
  await program[Symbol.asyncDispose]();
  await rm(dataDir, { recursive: true, force: true });
  return turn;
}

type Measuring = TurnSetup & { servers: BenchServers };

async function measureTurn(program: Program, setup: Measuring): Promise<ClusterTurn> {
  const { api: url } = await program.ready();
  const api = connectApi(url, await createBenchAccount(program.dataDir));
  await runAdmin(["grant-export", OWNER], { DATA_DIR: program.dataDir });
  const { servers, events, seed } = setup;
  const calm = () => Promise.all(servers.urls.map(awaitMerges));
  const importOf = async (mix: { events: number; seed: number }) => {
    const packageId = await makePackage(api, `of-${mix.events}-events`);
    const file = join(setup.folder, `${randomUUID()}.gz`);
    await writeGzipFile(file, { ...mix, packageIds: [packageId] });
    await calm();
    const merged = await startServerCpu(servers.urls);
    const measured = await measure(program, setup, async () => {
      const { secondsToDone } = await importFile(api, { path: file, packageIds: [packageId] });
      return secondsToDone;
    });
    await calm();
    await rm(file);
    return { packageId, measured, settled: await merged() };
  };
  await importOf({ events: WARM_UP_EVENTS, seed: seed + 1 });
  const { packageId, measured, settled } = await importOf({ events, seed });
  let bytes = 0;
  const exported = await measure(program, setup, async () => {
    const path = `/v1/packages/${packageId}/events/bench.csv?${RANGE}`;
    const run = await runCurl(program.pid, [`${url}${path}`, "-H", `Authorization: Bearer ${api.token}`]);
    bytes = run.bytes;
    return run.seconds;
  });
  return { layout: servers.name, import: measured, settled, export: { ...exported, bytes } };
}

/** All days of the files. */
const RANGE = "startDate=2025-01-15&endDate=2025-02-15";

async function measure(
  { pid }: Program,
  { servers }: Measuring,
  work: () => Promise<number>,
): Promise<Measured> {
  const cpu = await startServerCpu(servers.urls);
  using sampler = sampleUsage(pid);
  const seconds = await work();
  return { seconds, usage: sampler.finish(), servers: await cpu() };
}
