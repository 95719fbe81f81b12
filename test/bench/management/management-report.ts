import { availableParallelism } from "node:os";
import type { BenchResult } from "../common/benchmark.js";
import { median } from "../common/median.js";
import { percentiles, type Percentiles } from "../common/percentiles.js";
import { textTable } from "../common/text-table.js";
import type { ManagementRound, MeasuredRun } from "./management-round.js";
import { rounded, roundedAll } from "../common/format-numbers.js";

const RUNS = ["ours", "http", "select"] as const;
type Run = (typeof RUNS)[number];
const TITLES: Record<Run, string> = { ours: "this program", http: "GET /healthz", select: "SELECT 1" };
const LATENCIES = ["p50", "p90", "p99", "max"] as const;
const KNOWN_PARTS = ["service", "postgres", "clickhouse", "client"] as const;
/** `others`: processes that are no part of the benchmark, and delay all of it. */
const CPU_PARTS = [...KNOWN_PARTS, "others"] as const;

interface RunFacts {
  latencyMs: Percentiles;
  perSecond: number;
  /** In cores: 1 is one full core. */
  cpu: Record<(typeof CPU_PARTS)[number], number>;
  answers: Map<string, number>;
}

/** Medians over the rounds, answers of all rounds. `ratio`: this program's p99 over that of `GET /healthz`. */
export function managementReport(
  rounds: readonly ManagementRound[],
  { rate, seconds }: { rate: number; seconds: number },
): BenchResult {
  const factsOf = (run: Run) => combined(rounds.map((round) => factsOfRun(round[run])));
  const facts = { ours: factsOf("ours"), http: factsOf("http"), select: factsOf("select") };
  const ratio = facts.ours.latencyMs.p99 / facts.http.latencyMs.p99;
  const of = { rate, seconds, rounds: rounds.length, ratio };
  return { text: textOf(facts, of), json: jsonOf(facts, of) };
}

type Facts = Record<Run, RunFacts>;

interface Of {
  rate: number;
  seconds: number;
  rounds: number;
  ratio: number;
}

function factsOfRun(run: MeasuredRun): RunFacts {
  const { latenciesMs, answers, seconds, usage, machineCpuSeconds } = run;
  const known = KNOWN_PARTS.reduce((total, part) => total + usage[part].cpuSeconds, 0);
  const others = Math.max(0, machineCpuSeconds - known);
  const cpu = mapParts((part) => (part === "others" ? others : usage[part].cpuSeconds) / seconds);
  return { latencyMs: percentiles(latenciesMs), perSecond: latenciesMs.length / seconds, cpu, answers };
}

function combined(rounds: readonly RunFacts[]): RunFacts {
  const medianOf = (value: (facts: RunFacts) => number) => median(rounds.map(value));
  const latency = (name: keyof Percentiles) => medianOf(({ latencyMs }) => latencyMs[name]);
  const answers = new Map<string, number>();
  for (const [answer, count] of rounds.flatMap((round) => [...round.answers]))
    answers.set(answer, (answers.get(answer) ?? 0) + count);
  return {
    latencyMs: { p50: latency("p50"), p90: latency("p90"), p99: latency("p99"), max: latency("max") },
    perSecond: medianOf(({ perSecond }) => perSecond),
    cpu: mapParts((part) => medianOf(({ cpu }) => cpu[part])),
    answers,
  };
}

function mapParts(value: (part: (typeof CPU_PARTS)[number]) => number): RunFacts["cpu"] {
  const entries = CPU_PARTS.map((part) => [part, value(part)] as const);
  return Object.fromEntries(entries) as RunFacts["cpu"];
}

function textOf(facts: Facts, { rate, seconds, rounds, ratio }: Of): string {
  const row = (title: string, cell: (run: RunFacts) => string) => [
    title,
    ...RUNS.map((run) => cell(facts[run])),
  ];
  const table = textTable([
    ["", ...RUNS.map((run) => TITLES[run])],
    ...LATENCIES.map((name) => row(name, ({ latencyMs }) => `${latencyMs[name].toFixed(1)} ms`)),
    row("answered per second", ({ perSecond }) => perSecond.toFixed(0)),
    ...CPU_PARTS.map((part) => row(`CPU of ${part}`, ({ cpu }) => `${(cpu[part] * 100).toFixed(0)} %`)),
  ]);
  const answers = sorted(facts.ours.answers).map(([answer, count]) => `${answer}: ${count}`);
  const times = rounds === 1 ? "1 round" : `medians of ${rounds} rounds`;
  return (
    `management: ${rate} requests/s for ${seconds} s, latency from the due time, ${times} on ${availableParallelism()} cores\n` +
    `\n${table}\n  p99 is ${ratio.toFixed(1)} times that of GET /healthz. Answers: ${answers.join(", ")}\n`
  );
}

function sorted(answers: Map<string, number>): [string, number][] {
  return [...answers].sort(([a], [b]) => (a < b ? -1 : 1));
}

function jsonOf(facts: Facts, { rate, seconds, rounds, ratio }: Of) {
  return {
    rate_per_second: rate,
    seconds,
    rounds,
    ...runJson(facts.ours),
    peers: { http_healthz: runJson(facts.http), postgres_select: runJson(facts.select) },
    ratio: rounded(ratio),
  };
}

function runJson({ latencyMs, perSecond, cpu, answers }: RunFacts) {
  return {
    latency_ms: roundedAll(latencyMs),
    answered_per_second: rounded(perSecond),
    cpu_cores: roundedAll(cpu),
    answers: Object.fromEntries(sorted(answers)),
  };
}
