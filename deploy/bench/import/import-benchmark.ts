import { join } from "node:path";
import { connectApi } from "../../demo/api-client.js";
import type { Benchmark, BenchOptions, BenchResult, BenchContext } from "../common/benchmark.js";
import { createBenchAccount, OWNER } from "../common/create-bench-account.js";
import { spawnProgram, type Program } from "../common/spawn-program.js";
import { makeTemporaryFolder } from "../common/temporary-folder.js";
import { importReport } from "./import-report.js";
import { runImportRound, type ImportSetup, type ImportRound } from "./import-round.js";
import { runLogBenchmark } from "./log-benchmark.js";

/** Measures from the first byte of a gzip file to `done`, beside an INSERT of the same lines into the same tables. */
export const importBenchmark: Benchmark = {
  name: "import",
  summary: "events/s from POST to `done`, beside INSERT ... FORMAT JSONEachRow of the same lines",
  run: runImportBenchmark,
};

// Enough for the just-in-time compiler. Another seed, so that no cache has the clients of the measured rounds.
const WARM_UP_EVENTS = 60_000;

async function runImportBenchmark(
  options: BenchOptions,
  { open, onProgress }: BenchContext,
): Promise<BenchResult> {
  if (options.log === "kafka") return runLogBenchmark(options, { open, onProgress });
  const { path: folder } = open.use(makeTemporaryFolder());
  const program = open.use(spawnProgram(join(folder, "data")));
  onProgress(`starting the program in ${folder}`);
  const rounds = await program.whileRunning(runRounds(program, { ...options, folder, onProgress }));
  return importReport(rounds, options);
}

interface RoundsOptions extends BenchOptions {
  folder: string;
  onProgress: (sentence: string) => void;
}

async function runRounds(program: Program, options: RoundsOptions): Promise<ImportRound[]> {
  const { events, seed, rounds, folder, onProgress } = options;
  const { api, clickhouse: clickhouseUrl } = await program.ready();
  const token = await createBenchAccount(program.dataDir);
  const setup: ImportSetup = {
    api: connectApi(api, token),
    owner: OWNER,
    clickhouseUrl,
    pid: program.pid,
    folder,
  };
  onProgress(`warming both sides up with ${WARM_UP_EVENTS} other events`);
  await runImportRound(setup, { events: WARM_UP_EVENTS, seed: seed + 1, name: "warm-up" });
  const done: ImportRound[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    onProgress(`round ${round} of ${rounds}: ${events} events, this program and then the peer`);
    done.push(await runImportRound(setup, { events, seed, name: `round-${round}` }));
  }
  return done;
}
