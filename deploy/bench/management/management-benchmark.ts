import { join } from "node:path";
import { pino } from "pino";
import { connectPostgres } from "../../stores/postgres/connect-postgres.js";
import type { Benchmark, BenchOptions, BenchResult, BenchContext } from "../common/benchmark.js";
import { openKeepAliveConnections } from "../common/keep-alive-connections.js";
import { spawnProgram, type Program } from "../common/spawn-program.js";
import { makeTemporaryFolder } from "../common/temporary-folder.js";
import { makeManagementSetup } from "./management-setup.js";
import { managementReport } from "./management-report.js";
import { runManagementRound, type ManagementRound } from "./management-round.js";

/** Mixed requests at a fixed rate, beside requests and queries without any work at the same rate. */
export const managementBenchmark: Benchmark = {
  name: "management",
  summary: "latency of mixed requests at --rate, beside GET /healthz and SELECT 1 at the same rate",
  run: runManagementBenchmark,
};

/** As many as callers and their proxies keep open. Further requests wait for a connection. */
const CONNECTIONS_MAX = 64;
const QUERIES_AT_ONCE_MAX = 16;
const WARM_UP_SECONDS = 5;

async function runManagementBenchmark(
  options: BenchOptions,
  { open, onProgress }: BenchContext,
): Promise<BenchResult> {
  const { path: folder } = open.use(makeTemporaryFolder());
  // The default log level, which logs each request.
  const program = open.use(spawnProgram(join(folder, "data"), { LOG_LEVEL: "info" }));
  onProgress(`starting the program in ${folder}`);
  const rounds = await program.whileRunning(runRounds(program, { ...options, onProgress }));
  return managementReport(rounds, options);
}

interface RoundsOptions extends BenchOptions {
  onProgress: (sentence: string) => void;
}

async function runRounds(program: Program, options: RoundsOptions): Promise<ManagementRound[]> {
  const { rate: perSecond, seconds, seed, rounds, onProgress } = options;
  const { api, postgres: url } = await program.ready();
  using connections = openKeepAliveConnections(api, CONNECTIONS_MAX);
  const log = pino({ level: "silent" });
  const pg = connectPostgres({ url, connectionsMax: QUERIES_AT_ONCE_MAX, log });
  try {
    const setup = await makeManagementSetup(program.dataDir, connections);
    const { pid } = program;
    const runRound = (seconds: number, seed: number) =>
      runManagementRound({ ...setup, pg, pid }, { rate: { perSecond, seconds }, seed });
    onProgress(`warming up for three times ${WARM_UP_SECONDS} s`);
    await runRound(WARM_UP_SECONDS, seed);
    const done: ManagementRound[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      onProgress(
        `round ${round} of ${rounds}: ${perSecond} requests/s, this program and the two peers, ${seconds} s each`,
      );
      done.push(await runRound(seconds, seed + round));
    }
    return done;
  } finally {
    await pg.end();
  }
}
