import { join } from "node:path";
import { pino } from "pino";
import { connectPostgres } from "../../stores/postgres/connect-postgres.js";
import type { Benchmark, BenchOptions, BenchResult, BenchSurroundings } from "../common/benchmark.js";
import { openKeptConnections } from "../common/kept-connections.js";
import { spawnProgram, type Program } from "../common/spawn-program.js";
import { makeTemporaryFolder } from "../common/temporary-folder.js";
import { makeManagementGround } from "./management-ground.js";
import { managementReport } from "./management-report.js";
import { runManagementRound, type ManagementRound } from "./management-round.js";

/** Requests at a fixed rate, beside the same rate of requests that do nothing and of queries that ask nothing. */
export const managementBenchmark: Benchmark = {
  name: "management",
  summary: "latency of mixed requests at --rate, beside GET /healthz and SELECT 1 at the same rate",
  run: runManagementBenchmark,
};

/** As callers and their proxies keep; more requests at once wait for one another. */
const CONNECTIONS_MAX = 64;
const QUERIES_AT_ONCE_MAX = 16;
const WARM_UP_SECONDS = 5;

async function runManagementBenchmark(
  options: BenchOptions,
  { open, tell }: BenchSurroundings,
): Promise<BenchResult> {
  const { path: folder } = open.use(makeTemporaryFolder());
  // As it is run: with a line in the log for each request.
  const program = open.use(spawnProgram(join(folder, "data"), { LOG_LEVEL: "info" }));
  tell(`starting the program in ${folder}`);
  const rounds = await program.whileRunning(runRounds(program, { ...options, tell }));
  return managementReport(rounds, options);
}

interface RoundsOptions extends BenchOptions {
  tell: (sentence: string) => void;
}

async function runRounds(program: Program, options: RoundsOptions): Promise<ManagementRound[]> {
  const { rate: perSecond, seconds, seed, rounds, tell } = options;
  const { api, postgres: url } = await program.ready();
  using connections = openKeptConnections(api, CONNECTIONS_MAX);
  const log = pino({ level: "silent" });
  const pg = connectPostgres({ url, connectionsMax: QUERIES_AT_ONCE_MAX, log });
  try {
    const ground = await makeManagementGround(program.dataDir, connections);
    const { pid } = program;
    const runRound = (seconds: number, seed: number) =>
      runManagementRound({ ...ground, pg, pid }, { rate: { perSecond, seconds }, seed });
    tell(`warming up for three times ${WARM_UP_SECONDS} s`);
    await runRound(WARM_UP_SECONDS, seed);
    const done: ManagementRound[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      tell(`round ${round} of ${rounds}: ${perSecond} requests/s, ours and the two peers, ${seconds} s each`);
      done.push(await runRound(seconds, seed + round));
    }
    return done;
  } finally {
    await pg.end();
  }
}
