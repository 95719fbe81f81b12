import { clusterBenchmark } from "./cluster/cluster-benchmark.js";
import { collectBenchmark } from "./collect/collect-benchmark.js";
import type { Benchmark } from "./common/benchmark.js";
import { csvBenchmark } from "./csv/csv-benchmark.js";
import { dashboardBenchmark } from "./dashboard/dashboard-benchmark.js";
import { fairBenchmark } from "./fair/fair-benchmark.js";
import { funnelBenchmark } from "./funnel/funnel-benchmark.js";
import { growthBenchmark } from "./growth/growth-benchmark.js";
import { importBenchmark } from "./import/import-benchmark.js";
import { lookBenchmark } from "./look/look-benchmark.js";
import { managementBenchmark } from "./management/management-benchmark.js";
import { memoryBenchmark } from "./memory/memory-benchmark.js";
import { pullBenchmark } from "./pull/pull-benchmark.js";
import { smallBenchmark } from "./small/small-benchmark.js";
import { webhooksBenchmark } from "./webhooks/webhooks-benchmark.js";

/** Every benchmark, in the order in which they run. */
export const BENCHMARKS: readonly Benchmark[] = [
  importBenchmark,
  growthBenchmark,
  smallBenchmark,
  fairBenchmark,
  memoryBenchmark,
  csvBenchmark,
  managementBenchmark,
  dashboardBenchmark,
  lookBenchmark,
  collectBenchmark,
  pullBenchmark,
  funnelBenchmark,
  webhooksBenchmark,
  clusterBenchmark,
];
