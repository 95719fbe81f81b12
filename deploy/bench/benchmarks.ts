import type { Benchmark } from "./benchmark.js";
import { collectBenchmark } from "./collect-benchmark.js";
import { csvBenchmark } from "./csv-benchmark.js";
import { funnelBenchmark } from "./funnel-benchmark.js";
import { importBenchmark } from "./import-benchmark.js";
import { managementBenchmark } from "./management-benchmark.js";
import { webhooksBenchmark } from "./webhooks-benchmark.js";

/** Every benchmark, in the order in which they run. */
export const BENCHMARKS: readonly Benchmark[] = [
  importBenchmark,
  csvBenchmark,
  managementBenchmark,
  collectBenchmark,
  funnelBenchmark,
  webhooksBenchmark,
];
