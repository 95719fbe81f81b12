import { join } from "node:path";
import { connectApi } from "../../demo/api-client.js";
import type { Benchmark, BenchOptions, BenchResult, BenchSurroundings } from "../common/benchmark.js";
import { createBenchAccount, OWNER } from "../common/create-bench-account.js";
import { spawnProgram, type Program } from "../common/spawn-program.js";
import { makeTemporaryFolder } from "../common/temporary-folder.js";
import { importReport } from "./import-report.js";
import { runImportRound, type ImportGround, type ImportRound } from "./import-round.js";
import { runLogBenchmark } from "./log-benchmark.js";

/** From the first byte of a gzip file to `done`, beside the same lines put straight into the same tables. */
export const importBenchmark: Benchmark = {
  name: "import",
  summary: "events/s from POST to `done`, beside INSERT ... FORMAT JSONEachRow of the same lines",
  run: runImportBenchmark,
};

// Enough for the just-in-time compiler; with other clients, so that no cache is filled for the rounds that count.
const WARM_UP_EVENTS = 60_000;

async function runImportBenchmark(
  options: BenchOptions,
  { open, tell }: BenchSurroundings,
): Promise<BenchResult> {
  if (options.log === "kafka") return runLogBenchmark(options, { open, tell });
  const { path: folder } = open.use(makeTemporaryFolder());
  const program = open.use(spawnProgram(join(folder, "data")));
  tell(`starting the program in ${folder}`);
  const rounds = await program.whileRunning(runRounds(program, { ...options, folder, tell }));
  return importReport(rounds, options);
}

interface RoundsOptions extends BenchOptions {
  folder: string;
  tell: (sentence: string) => void;
}

async function runRounds(program: Program, options: RoundsOptions): Promise<ImportRound[]> {
  const { events, seed, rounds, folder, tell } = options;
  const { api, clickhouse: clickhouseUrl } = await program.ready();
  const token = await createBenchAccount(program.dataDir);
  const ground: ImportGround = {
    api: connectApi(api, token),
    owner: OWNER,
    clickhouseUrl,
    pid: program.pid,
    folder,
  };
  tell(`warming both sides up with ${WARM_UP_EVENTS} other events`);
  await runImportRound(ground, { events: WARM_UP_EVENTS, seed: seed + 1, name: "warm-up" });
  const done: ImportRound[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    tell(`round ${round} of ${rounds}: ${events} events, ours and then the peer`);
    done.push(await runImportRound(ground, { events, seed, name: `round-${round}` }));
  }
  return done;
}
