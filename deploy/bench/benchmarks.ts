import { collectBenchmark } from "./collect/collect-benchmark.js";
import type { Benchmark } from "./common/benchmark.js";
import { csvBenchmark } from "./csv/csv-benchmark.js";
import { funnelBenchmark } from "./funnel/funnel-benchmark.js";
import { importBenchmark } from "./import/import-benchmark.js";
import { managementBenchmark } from "./management/management-benchmark.js";
import { webhooksBenchmark } from "./webhooks/webhooks-benchmark.js";

/** Every benchmark, in the order in which they run. */
export const BENCHMARKS: readonly Benchmark[] = [
  importBenchmark,
  csvBenchmark,
  managementBenchmark,
  collectBenchmark,
  funnelBenchmark,
  webhooksBenchmark,
];
