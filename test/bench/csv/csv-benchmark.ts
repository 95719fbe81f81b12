import { connectClickHouse } from "../../../deploy/stores/clickhouse/connect-clickhouse.js";
import type { Benchmark, BenchOptions, BenchResult, BenchContext } from "../common/benchmark.js";
import { csvReport } from "./csv-report.js";
import { runCsvRound, type CsvRound } from "./csv-round.js";
import { fillEvents } from "./fill-events.js";
import { createBenchAccount, OWNER } from "../common/create-bench-account.js";
import { connectApi } from "../../../deploy/demo/api-client.js";
import { runAdmin } from "../common/run-admin.js";
import { measureProgram, type MeasuredProgram } from "../common/measure-program.js";
import type { PackageV1 } from "../../../schemas/contracts/package.js";

/** A month of events as CSV, beside curl of the same query from the same ClickHouse. */
export const csvBenchmark: Benchmark = {
  name: "csv",
  summary:
    "throughput and first byte of a CSV of --events events, beside curl of the same query from ClickHouse",
  run: runCsvBenchmark,
};

/** Enrichment loads its lookup tables in threads of the same process; idle, they are no part of an export. */
const ONE_WORKER = { ENRICH_WORKERS: "1" };

async function runCsvBenchmark(options: BenchOptions, context: BenchContext): Promise<BenchResult> {
  const rounds = await measureProgram({ ...options, ...context, variables: ONE_WORKER }, runRounds);
  return csvReport(rounds, options);
}

async function runRounds({ program, events, rounds, onProgress }: MeasuredProgram): Promise<CsvRound[]> {
  const { api: url, clickhouse: clickhouseUrl } = await program.ready();
  const token = await createBenchAccount(program.dataDir);
  await runAdmin(program.dataDir, ["grant-export", OWNER]);
  const api = connectApi(url, token);
  const { uuid: packageId } = await api.post<PackageV1>("/v1/packages", {
    name: "bench",
    shortDescription: "Made by the benchmark",
  });
  await using clickhouse = connectClickHouse(clickhouseUrl);
  onProgress(`inserting ${events} events`);
  await fillEvents(clickhouse, { packageId, events });
  const setup = { api, clickhouseUrl, packageId, pid: program.pid };
  onProgress("warming up");
  await runCsvRound(setup);
  const done: CsvRound[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    onProgress(`round ${round} of ${rounds}: ours, then curl`);
    done.push(await runCsvRound(setup));
  }
  return done;
}
