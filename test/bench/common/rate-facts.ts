import type { Usage } from "../usage/sample-usage.js";
import { overRounds } from "./median.js";
import { percentiles } from "./percentiles.js";
import type { SentAtRate } from "./send-at-rate.js";

/** Requests at a fixed rate, and what the machine did meanwhile. */
export interface MeasuredRun extends SentAtRate {
  usage: Usage;
  /** CPU time of all processes of the machine, including these. Other processes delay the measured ones. */
  machineCpuSeconds: number;
}

/** As JSON, over the rounds. `others`: processes that are no part of the benchmark, and delay all of it. */
export function rateFacts(rounds: readonly MeasuredRun[]) {
  return overRounds(
    rounds.map(({ latenciesMs, seconds, usage, machineCpuSeconds }) => {
      const [service, postgres, clickhouse, client] = (
        ["service", "postgres", "clickhouse", "client"] as const
      ).map((part) => usage[part].cpuSeconds / seconds) as [number, number, number, number];
      const others = Math.max(0, machineCpuSeconds / seconds - service - postgres - clickhouse - client);
      return {
        latency_ms: percentiles(latenciesMs),
        answered_per_second: latenciesMs.length / seconds,
        cpu_cores: { service, postgres, clickhouse, client, others },
      };
    }),
  );
}

/** How often each answer was given, in all rounds. */
export function countAnswers(rounds: readonly SentAtRate[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const [answer, count] of rounds.flatMap((run) => [...run.answers]).sort())
    counts.set(answer, (counts.get(answer) ?? 0) + count);
  return Object.fromEntries(counts);
}
