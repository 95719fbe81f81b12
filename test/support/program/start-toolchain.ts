import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { parseConfig } from "../../../deploy/config/config.js";
import type { Endpoints } from "../../../deploy/process/data-dir.js";
import type { ClickHouseSource } from "../../../deploy/stores/clickhouse/clickhouse-source.js";
import { openEventLog } from "../../../deploy/stores/open-event-log.js";
import { settlesWithin } from "../../../schemas/async/pause.js";
import type { EventLog, LagReader } from "../../../schemas/records/event-log.js";
import { logEnvironment } from "../stores/log-environment.js";
import { type GivenServers, suiteServers } from "../shards/given-servers.js";
import { openServersDatabase } from "../shards/servers-database.js";
import { ALL_PREPARED, type Prepared, copyDatabases, smallLookups } from "../stores/prepared-stores.js";
import { checkAnswersOf } from "../api/check-answer.js";
import type { LoopDisk } from "./loop-disk.js";
import { type Program, programOf } from "./program.js";
import {
  type ProcessEnvironment,
  type ToolchainProcess,
  assertNoneLeft,
  spawnToolchain,
  tail,
  waitUntilReady,
} from "./toolchain-process.js";

/**
 * The whole built program, running on a data directory of its own and on free ports. Its endpoints are those of the
 * process that runs now; ports change with `restart`.
 */
export interface Toolchain extends Program, AsyncDisposable {
  readonly pid: number;
  /** How the process that runs now ends: its exit status, or the signal. */
  readonly gone: Promise<number | NodeJS.Signals>;
  /** The log so far of the process that runs now. */
  log(): string;
  /** Sends a signal and resolves, once the process is gone, with its exit status or the signal that ended it. */
  kill(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>;
  /** Starts the program again on the same directory; ends it first if it runs. */
  restart(): Promise<void>;
  /**
   * The URLs of the servers of ClickHouse, with the tables that rows are written to: the one of `endpoints.clickhouse`, or
   * all of a cluster.
   */
  readonly clickhouseServers: readonly string[];
  /** The same for functions of the program. */
  readonly clickhouseSource: ClickHouseSource;
  /** The program's event log, for tests that append to it beside the program or ask what waits in it. */
  openLog(): Promise<EventLog & LagReader>;
  /** Ends the program as SIGTERM does, checks that nothing of it is left, and removes the directory. */
  close(): Promise<void>;
}

export interface ToolchainOptions {
  /** Beside the ports, DATA_DIR, LOG_LEVEL and those of the event log that the suite is about. */
  env?: ProcessEnvironment;
  /** All by default. The program makes its databases, and reads whole lookup tables, where they are left out. */
  prepared?: readonly Prepared[];
  /** On which it has a database of its own, in place of an embedded ClickHouse. Default: those of the suite. */
  servers?: GivenServers | undefined;
  /** On which its data directory lies. */
  disk?: LoopDisk | undefined;
}

const DRAIN_MS_MAX = 60_000;
const LEFT_MS_MAX = 60_000;

/** Starts the program built in dist/ and resolves when it is ready. */
export async function startToolchain({
  env = {},
  prepared = ALL_PREPARED,
  servers = suiteServers(),
  disk,
}: ToolchainOptions = {}): Promise<Toolchain> {
  const dataDir = await realpath(await mkdtemp(join(disk?.path ?? tmpdir(), "toolchain-test-")));
  const ports = { PORT: "0", COLLECT_PORT: "0", METRICS_PORT: "0" };
  const database =
    servers === undefined || env["CLICKHOUSE_URL"] !== undefined ? undefined : openServersDatabase(servers);
  const own = {
    ...logEnvironment(),
    ...database?.env,
    ...smallLookups(prepared),
    ...env,
    DATA_DIR: dataDir,
  };
  if (prepared.includes("databases") && env["DATABASE_URL"] === undefined) await copyDatabases(dataDir);
  const variables = { ...ports, LOG_LEVEL: "info", ENRICH_WORKERS: "1", ...own };
  let running = await startOn(dataDir, variables);
  const toolchain: Toolchain = {
    ...programOf({ dataDir, env: own, endpoints: () => running.endpoints }),
    get endpoints() {
      return running.endpoints;
    },
    get api() {
      return running.endpoints.api ?? "";
    },
    get pid() {
      return running.process.pid;
    },
    get gone() {
      return running.process.gone;
    },
    get clickhouseServers() {
      return database?.shards.flat() ?? [running.endpoints.clickhouse ?? ""];
    },
    get clickhouseSource() {
      return database?.source ?? { url: running.endpoints.clickhouse ?? "" };
    },
    log: () => running.process.log(),
    openLog: () => openLog(own),
    async kill(signal) {
      running.process.kill(signal);
      return running.process.gone;
    },
    async restart() {
      await stop(running.process);
      // The machine still has the boot id of before.
      if (await disk?.restore()) await rm(join(dataDir, "clickhouse", "boot-id"), { force: true });
      running = await startOn(dataDir, variables);
    },
    async close() {
      await stop(running.process);
      await assertNoneLeft(dataDir, { patienceMs: LEFT_MS_MAX });
      await database?.[Symbol.asyncDispose]();
      await rm(dataDir, { recursive: true, force: true });
    },
    [Symbol.asyncDispose]: () => toolchain.close(),
  };
  return toolchain;
}

function openLog(env: ProcessEnvironment): Promise<EventLog & LagReader> {
  const { kafka, dataDir } = parseConfig(env);
  const source = kafka === undefined ? { dir: join(dataDir, "log") } : { kafka };
  return openEventLog(source, pino({ level: "silent" }));
}

interface Running {
  process: ToolchainProcess;
  endpoints: Endpoints;
}

async function startOn(dataDir: string, variables: ProcessEnvironment): Promise<Running> {
  // A killed run leaves its endpoints behind; these would be taken for the new ones.
  await rm(join(dataDir, "endpoints.json"), { force: true });
  const process = spawnToolchain(variables);
  try {
    const endpoints = await waitUntilReady(process, dataDir);
    if (endpoints.api !== undefined) await checkAnswersOf(endpoints.api);
    return { process, endpoints };
  } catch (error) {
    process.kill("SIGKILL");
    await process.gone;
    throw error;
  }
}

/** Throws if the program still runs after a stop signal and the time limit of draining. */
async function stop(running: ToolchainProcess): Promise<void> {
  running.kill("SIGTERM");
  if (await settlesWithin(running.gone, DRAIN_MS_MAX)) return;
  running.kill("SIGKILL");
  throw new Error(`the program did not drain within ${DRAIN_MS_MAX / 1000} s:\n${tail(running.log())}`);
}
