import { availableParallelism } from "node:os";
import type { BenchResult } from "../common/benchmark.js";
import { rounded, timesOf } from "../common/format-numbers.js";
import { type MeasuredRun, type RateFacts, rateFacts, rateJson, rateRows } from "../common/rate-facts.js";
import { textTable } from "../common/text-table.js";
import type { ManagementRound } from "./management-round.js";

const RUNS = ["ours", "http", "select"] as const;
type Run = (typeof RUNS)[number];
const TITLES: Record<Run, string> = { ours: "this program", http: "GET /healthz", select: "SELECT 1" };

interface RunFacts extends RateFacts {
  answers: [answer: string, count: number][];
}

/** Medians over the rounds, answers of all rounds. `ratio`: this program's p99 over that of `GET /healthz`. */
export function managementReport(
  rounds: readonly ManagementRound[],
  { rate, seconds }: { rate: number; seconds: number },
): BenchResult {
  const [ours, http, select] = RUNS.map((run) => factsOf(rounds.map((round) => round[run]))) as [
    RunFacts,
    RunFacts,
    RunFacts,
  ];
  const ratio = ours.latencyMs.p99 / http.latencyMs.p99;
  const table = textTable([["", ...RUNS.map((run) => TITLES[run])], ...rateRows([ours, http, select])]);
  const answers = ours.answers.map(([answer, count]) => `${answer}: ${count}`);
  return {
    text:
      `management: ${rate} requests/s for ${seconds} s, latency from the due time, ${timesOf(rounds.length)} on ${availableParallelism()} cores\n` +
      `\n${table}\n  p99 is ${ratio.toFixed(1)} times that of GET /healthz. Answers: ${answers.join(", ")}\n`,
    json: {
      rate_per_second: rate,
      ...{ seconds, rounds: rounds.length },
      ...jsonOf(ours),
      peers: { http_healthz: jsonOf(http), postgres_select: jsonOf(select) },
      ratio: rounded(ratio),
    },
  };
}

function factsOf(runs: readonly MeasuredRun[]): RunFacts {
  const answers = new Map<string, number>();
  for (const [answer, count] of runs.flatMap((run) => [...run.answers]))
    answers.set(answer, (answers.get(answer) ?? 0) + count);
  return { ...rateFacts(runs), answers: [...answers].sort(([a], [b]) => (a < b ? -1 : 1)) };
}

function jsonOf(facts: RunFacts) {
  return { ...rateJson(facts), answers: Object.fromEntries(facts.answers) };
}
