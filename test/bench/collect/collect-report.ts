import { availableParallelism } from "node:os";
import type { BenchResult } from "../common/benchmark.js";
import type { CollectRound, RedirectRun } from "./collect-round.js";
import { median } from "../common/median.js";
import { percentiles } from "../common/percentiles.js";
import { textTable } from "../common/text-table.js";
import { rounded, roundedAll } from "../common/format-numbers.js";

export interface CollectFacts {
  rounds: readonly CollectRound[];
  /** Requests that were answered with a redirect, and how many of their events are stored. */
  sent: number;
  stored: number;
}

const LATENCIES = ["p50", "p90", "p99", "max"] as const;
const PARTS = ["service", "clickhouse", "postgres", "client"] as const;

interface RunFacts {
  latencyMs: Record<(typeof LATENCIES)[number], number>;
  perSecond: number;
  importSeconds: number;
  /** The cores in use: 1 is all of one core. The bare server is among `others`. */
  cpu: Record<(typeof PARTS)[number] | "others", number>;
}

/** Medians over the rounds. */
export function collectReport(
  { rounds, sent, stored }: CollectFacts,
  { redirects, seconds, events }: { redirects: number; seconds: number; events: number },
): BenchResult {
  const ours = combined(rounds.map((round) => factsOf(round.ours)));
  const bare = combined(rounds.map((round) => factsOf(round.bare)));
  const of = { redirects, seconds, events, rounds: rounds.length, sent, stored };
  return {
    text: textOf({ ours, bare }, of),
    json: {
      redirects_per_second: redirects,
      seconds,
      events,
      rounds: rounds.length,
      ...runJson(ours),
      events_sent: sent,
      events_stored: stored,
      peers: { bare_node_http: runJson(bare) },
      ratio: rounded(ours.latencyMs.p99 / bare.latencyMs.p99),
    },
  };
}

function factsOf({ latenciesMs, seconds, usage, machineCpuSeconds, importSeconds }: RedirectRun): RunFacts {
  const known = PARTS.map((part) => [part, usage[part].cpuSeconds] as const);
  const others = Math.max(0, machineCpuSeconds - known.reduce((sum, [, used]) => sum + used, 0));
  const cpu = Object.fromEntries(
    [...known, ["others", others] as const].map(([part, s]) => [part, s / seconds]),
  );
  return {
    latencyMs: percentiles(latenciesMs),
    perSecond: latenciesMs.length / seconds,
    importSeconds,
    cpu: cpu as RunFacts["cpu"],
  };
}

function combined(rounds: readonly RunFacts[]): RunFacts {
  const medianOf = (value: (facts: RunFacts) => number) => median(rounds.map(value));
  const of = <Name extends string>(names: readonly Name[], value: (facts: RunFacts, name: Name) => number) =>
    Object.fromEntries(names.map((name) => [name, medianOf((facts) => value(facts, name))])) as Record<
      Name,
      number
    >;
  return {
    latencyMs: of(LATENCIES, ({ latencyMs }, name) => latencyMs[name]),
    perSecond: medianOf(({ perSecond }) => perSecond),
    importSeconds: medianOf(({ importSeconds }) => importSeconds),
    cpu: of([...PARTS, "others"], ({ cpu }, name) => cpu[name]),
  };
}

interface Of {
  redirects: number;
  seconds: number;
  events: number;
  rounds: number;
  sent: number;
  stored: number;
}

function textOf({ ours, bare }: Record<"ours" | "bare", RunFacts>, of: Of): string {
  const row = (title: string, cell: (facts: RunFacts) => string) => [title, cell(ours), cell(bare)];
  const table = textTable([
    ["", "this program", "bare node:http"],
    ...LATENCIES.map((name) => row(name, ({ latencyMs }) => `${latencyMs[name].toFixed(1)} ms`)),
    row("answered per second", ({ perSecond }) => perSecond.toFixed(0)),
    row("import, to done", ({ importSeconds }) => `${importSeconds.toFixed(1)} s`),
    ...[...PARTS, "others" as const].map((part) =>
      row(`CPU of ${part}`, ({ cpu }) => `${(cpu[part] * 100).toFixed(0)} %`),
    ),
  ]);
  const times = of.rounds === 1 ? "1 round" : `medians of ${of.rounds} rounds`;
  return (
    `collect: ${of.redirects} redirects/s for ${of.seconds} s beside an import of ${of.events} lines, ` +
    `${times} on ${availableParallelism()} cores\n\n${table}\n` +
    `  ${of.stored} of ${of.sent} events are stored.\n`
  );
}

function runJson({ latencyMs, perSecond, importSeconds, cpu }: RunFacts) {
  return {
    latency_ms: roundedAll(latencyMs),
    answered_per_second: rounded(perSecond),
    import_seconds: rounded(importSeconds),
    cpu_cores: roundedAll(cpu),
  };
}
