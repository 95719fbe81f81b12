import type { PartUsage, Usage } from "./sample-usage.js";
import { NO_CPU } from "./thread-cpu.js";

/** The CPU seconds of the program and its stores; 0 where nothing is given. All memory is 0. */
export function usageOf({
  service = 0,
  clickhouse = 0,
  postgres = 0,
  client = 0,
  threads = NO_CPU,
}: Partial<Record<"service" | "clickhouse" | "postgres" | "client", number>> & {
  threads?: Usage["threads"];
}): Usage {
  return {
    service: partUsage(service),
    clickhouse: partUsage(clickhouse),
    postgres: partUsage(postgres),
    client: { cpuSeconds: client },
    threads,
  };
}

export function partUsage(cpuSeconds: number): PartUsage {
  return {
    cpuSeconds,
    residentBeforeBytes: 0,
    residentMaxBytes: 0,
    anonymousMaxBytes: 0,
    residentPeakBytes: 0,
  };
}
