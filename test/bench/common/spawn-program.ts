import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { pause } from "../../../schemas/async/pause.js";
import { type Endpoints, readRunningEndpoints } from "../../../deploy/process/data-dir.js";
import { StartFailure } from "../../../deploy/process/start-failure.js";

/** The command `start` in its own process, with embedded stores below its data directory. */
export interface Program extends AsyncDisposable {
  readonly pid: number;
  readonly dataDir: string;
  /** Resolves with its URLs when all its stores answer. */
  ready(): Promise<Required<Endpoints>>;
  /** Waits for `work`. When the program ends by itself, rejects with the reason and its last log lines. */
  whileRunning<T>(work: Promise<T>): Promise<T>;
  /** Drains the program, and kills it when that takes too long. */
  [Symbol.asyncDispose](): Promise<void>;
}

const READY_MS_MAX = 120_000;
const READY_POLL_MS = 100;
const DRAIN_MS_MAX = 25_000;
const TAIL_LINES = 20;
const LAST_LINES_MS = 1_000;

/**
 * Starts the built program, as users do, with additional variables. It ends when this process exits; only a SIGKILL of this process
 * leaves it running. It stays in this session: see raisePriority. Ctrl-C reaches both.
 */
export function spawnProgram(dataDir: string, variables: NodeJS.ProcessEnv = {}): Program {
  const child = spawn(MAIN, ["start"], {
    env: { ...environment(dataDir), ...variables },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  const tail: string[] = [];
  createInterface({ input: child.stderr }).on("line", (line) => {
    tail.push(line);
    if (tail.length > TAIL_LINES) tail.shift();
  });
  const gone = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (status, signal) => resolve(signal ?? `exit status ${status}`));
  });
  const lost = gone.then((reason): never => {
    throw new StartFailure(`The measured program ended by itself (${reason}):\n${tail.join("\n")}`);
  });
  // The rejection may come while nothing awaits it.
  lost.catch(() => undefined);
  return {
    pid: child.pid ?? -1,
    dataDir,
    ready: () => whileRunning(untilReady(dataDir), lost),
    whileRunning: (work) => whileRunning(work, lost),
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      const patience = setTimeout(kill, DRAIN_MS_MAX);
      await gone;
      clearTimeout(patience);
      process.off("exit", kill);
    },
  };
}

const MAIN = fileURLToPath(new URL("../../../dist/deploy/main.js", import.meta.url));

/** Keeps the operator's tuning variables. Stores and addresses are always the benchmark's own. */
function environment(dataDir: string): NodeJS.ProcessEnv {
  const { DATABASE_URL: _d, CLICKHOUSE_URL: _c, KAFKA_BROKERS: _k, SECRET_KEY: _s, ...rest } = process.env;
  const { CLICKHOUSE_SHARDS: _n, CLICKHOUSE_CLUSTER: _u, CLICKHOUSE_QUORUM: _q, ...others } = rest;
  const { ROLES: _r, HOST: _h, COLLECT_HOST: _l, LOG_CODEC: _o, KAFKA_TOPIC_PREFIX: _t, ...tuning } = others;
  const ports = { PORT: "0", COLLECT_PORT: "0", METRICS_PORT: "0" };
  const limits = { REQUESTS_PER_SECOND: "1000000" };
  return { LOG_LEVEL: "warn", ...limits, ...tuning, ...ports, DATA_DIR: dataDir };
}

/** When the program ends, requests fail first. Waits for its last log lines, which explain more. */
async function whileRunning<T>(work: Promise<T>, lost: Promise<never>): Promise<T> {
  try {
    return await Promise.race([work, lost]);
  } catch (error) {
    await Promise.race([lost, pause(LAST_LINES_MS)]);
    throw error;
  }
}

async function untilReady(dataDir: string): Promise<Required<Endpoints>> {
  const deadline = performance.now() + READY_MS_MAX;
  while (performance.now() < deadline) {
    await pause(READY_POLL_MS);
    const endpoints = await readRunningEndpoints(dataDir);
    if (endpoints?.api !== undefined && (await isReady(endpoints.api)))
      return endpoints as Required<Endpoints>;
  }
  throw new StartFailure(`The measured program is not ready after ${READY_MS_MAX / 1000} s.`);
}

/** Not while the addresses in a kept data directory are still those of a program that was killed. */
async function isReady(api: string): Promise<boolean> {
  const response = await fetch(`${api}/readyz`).catch(() => undefined);
  await response?.body?.cancel();
  return response?.ok === true;
}
