import type { Usage } from "../usage/sample-usage.js";
import { rounded, roundedAll } from "./format-numbers.js";
import { median } from "./median.js";
import { percentiles, type Percentiles } from "./percentiles.js";
import type { SentAtRate } from "./send-at-rate.js";

/** Requests at a fixed rate, and what the machine did meanwhile. */
export interface MeasuredRun extends SentAtRate {
  usage: Usage;
  /** CPU time of all processes of the machine, including these. Other processes delay the measured ones. */
  machineCpuSeconds: number;
}

const LATENCIES = ["p50", "p90", "p99", "max"] as const;
const KNOWN_PARTS = ["service", "postgres", "clickhouse", "client"] as const;
/** `others`: processes that are no part of the benchmark, and delay all of it. */
const CPU_PARTS = [...KNOWN_PARTS, "others"] as const;

export interface RateFacts {
  latencyMs: Percentiles;
  perSecond: number;
  /** In cores: 1 is one full core. */
  cpu: Record<(typeof CPU_PARTS)[number], number>;
}

/** Medians over the rounds. */
export function rateFacts(rounds: readonly MeasuredRun[]): RateFacts {
  const latencies = rounds.map(({ latenciesMs }) => percentiles(latenciesMs));
  return {
    latencyMs: named(LATENCIES, (name) => median(latencies.map((each) => each[name]))),
    perSecond: median(rounds.map(({ latenciesMs, seconds }) => latenciesMs.length / seconds)),
    cpu: named(CPU_PARTS, (part) => median(rounds.map((run) => cpuSecondsOf(run, part) / run.seconds))),
  };
}

function cpuSecondsOf({ usage, machineCpuSeconds }: MeasuredRun, part: (typeof CPU_PARTS)[number]): number {
  if (part !== "others") return usage[part].cpuSeconds;
  const known = KNOWN_PARTS.reduce((total, each) => total + usage[each].cpuSeconds, 0);
  return Math.max(0, machineCpuSeconds - known);
}

function named<Name extends string>(names: readonly Name[], value: (name: Name) => number) {
  return Object.fromEntries(names.map((name) => [name, value(name)])) as Record<Name, number>;
}

/** A column for each of them. */
export function rateRows(columns: readonly RateFacts[]): string[][] {
  const row = (title: string, cell: (facts: RateFacts) => string) => [title, ...columns.map(cell)];
  return [
    ...LATENCIES.map((name) => row(name, ({ latencyMs }) => `${latencyMs[name].toFixed(1)} ms`)),
    row("answered per second", ({ perSecond }) => perSecond.toFixed(0)),
    ...CPU_PARTS.map((part) => row(`CPU of ${part}`, ({ cpu }) => `${(cpu[part] * 100).toFixed(0)} %`)),
  ];
}

export function rateJson({ latencyMs, perSecond, cpu }: RateFacts) {
  return {
    latency_ms: roundedAll(latencyMs),
    answered_per_second: rounded(perSecond),
    cpu_cores: roundedAll(cpu),
  };
}
