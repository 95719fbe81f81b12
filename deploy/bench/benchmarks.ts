import type { Benchmark } from "./benchmark.js";
import { funnelBenchmark } from "./funnel-benchmark.js";
import { importBenchmark } from "./import-benchmark.js";
import { managementBenchmark } from "./management-benchmark.js";

/** Every benchmark, in the order in which they run. */
export const BENCHMARKS: readonly Benchmark[] = [importBenchmark, managementBenchmark, funnelBenchmark];
