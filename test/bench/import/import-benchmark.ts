import { connectApi } from "../../../deploy/demo/api-client.js";
import type { Benchmark, BenchOptions, BenchResult, BenchContext } from "../common/benchmark.js";
import { createBenchAccount } from "../common/create-bench-account.js";
import { measureProgram, type MeasuredProgram } from "../common/measure-program.js";
import { importReport, type MeasuredVariant } from "./import-report.js";
import { runImportRound, type ImportSetup, type ImportRound } from "./import-round.js";
import { FEW_ADDRESSES, nameOf, variantsOf } from "./import-variants.js";
import { runLogBenchmark } from "./log-benchmark.js";

/** Measures from the first byte of a gzip file to `done`, beside an INSERT of the same lines into the same tables. */
export const importBenchmark: Benchmark = {
  name: "import",
  summary:
    "events/s from POST to `done` by --overrides, --packages and --addresses (and 30,000), beside INSERT ... FORMAT JSONEachRow",
  run: runImportBenchmark,
};

// Enough for the just-in-time compiler. Another seed, so that no cache has the clients of the measured rounds.
const WARM_UP_EVENTS = 60_000;
const WARM_UP = { overridesPercent: 10, packages: 1, addresses: FEW_ADDRESSES };

async function runImportBenchmark(options: BenchOptions, context: BenchContext): Promise<BenchResult> {
  if (options.log === "kafka") return runLogBenchmark(options, context);
  return importReport(await measureProgram({ ...options, ...context }, runVariants), options);
}

/** Every round measures all variants, so that slow changes of the machine affect all of them. */
async function runVariants({
  program,
  folder,
  onProgress,
  ...options
}: MeasuredProgram): Promise<MeasuredVariant[]> {
  const { events, seed, rounds } = options;
  const { api, clickhouse: clickhouseUrl, metrics: metricsUrl } = await program.ready();
  const token = await createBenchAccount(program.dataDir);
  const stores = { clickhouseUrl, metricsUrl };
  const setup: ImportSetup = { api: connectApi(api, token), ...stores, pid: program.pid, folder };
  onProgress(`warming both sides up with ${WARM_UP_EVENTS} other events`);
  await runImportRound(setup, { ...WARM_UP, events: WARM_UP_EVENTS, seed: seed + 1, name: "warm-up" });
  const measured = variantsOf(options).map((variant) => ({ variant, rounds: [] as ImportRound[] }));
  for (let round = 1; round <= rounds; round += 1) {
    for (const { variant, rounds: done } of measured) {
      onProgress(
        `round ${round} of ${rounds}, ${nameOf(variant)}: ${events} events, this program and then the peer`,
      );
      const name = `round-${round}-${variant.overridesPercent}-of-${variant.packages}-${variant.addresses}`;
      done.push(await runImportRound(setup, { ...variant, events, seed, name }));
    }
  }
  return measured;
}
