import { availableParallelism } from "node:os";
import type { BenchResult } from "../common/benchmark.js";
import { median } from "../common/median.js";
import { textTable } from "../common/text-table.js";
import { rounded, timesOf } from "../common/format-numbers.js";

/** One run for all owners. */
export interface MeasuredPass {
  seconds: number;
  /** The output of the command. */
  sentence: string;
  /** The peak memory of its process. */
  residentPeakBytes: number;
  /** The growth of ClickHouse's memory during the run. */
  clickhouseAddedBytes: number;
  clickhouseCpuSeconds: number;
  postgresCpuSeconds: number;
}

export interface FunnelRound {
  /** Every company is new. */
  first: MeasuredPass;
  /** Nothing has changed. */
  again: MeasuredPass;
  peerSeconds: number;
}

const PASSES = ["first", "again"] as const;
const MIB = 2 ** 20;

/** Medians of times and peaks of memory over the rounds. `ratio`: seconds of a run without changes over the peer's. */
export function funnelReport(rounds: readonly FunnelRound[]): BenchResult {
  const peerSeconds = median(rounds.map((round) => round.peerSeconds));
  const of = (pass: (typeof PASSES)[number]) => combined(rounds.map((round) => round[pass]));
  const facts = { first: of("first"), again: of("again") };
  const ratio = facts.again.seconds / peerSeconds;
  return {
    text: textOf(facts, { peerSeconds, ratio, rounds: rounds.length }),
    json: jsonOf(facts, { peerSeconds, ratio }),
  };
}

type Facts = Record<(typeof PASSES)[number], MeasuredPass>;

function combined(passes: readonly MeasuredPass[]): MeasuredPass {
  const medianOf = (value: (pass: MeasuredPass) => number) => median(passes.map(value));
  const peakOf = (value: (pass: MeasuredPass) => number) => Math.max(...passes.map(value));
  return {
    seconds: medianOf(({ seconds }) => seconds),
    sentence: passes.at(-1)?.sentence ?? "",
    residentPeakBytes: peakOf(({ residentPeakBytes }) => residentPeakBytes),
    clickhouseAddedBytes: peakOf(({ clickhouseAddedBytes }) => clickhouseAddedBytes),
    clickhouseCpuSeconds: medianOf(({ clickhouseCpuSeconds }) => clickhouseCpuSeconds),
    postgresCpuSeconds: medianOf(({ postgresCpuSeconds }) => postgresCpuSeconds),
  };
}

function textOf(
  facts: Facts,
  { peerSeconds, ratio, rounds }: { peerSeconds: number; ratio: number; rounds: number },
): string {
  const row = (title: string, cell: (pass: MeasuredPass) => string, peer = "") => [
    title,
    ...PASSES.map((pass) => cell(facts[pass])),
    peer,
  ];
  const table = textTable([
    ["", "all new", "no news", "ClickHouse adds up"],
    row("seconds", ({ seconds }) => `${seconds.toFixed(1)} s`, `${peerSeconds.toFixed(2)} s`),
    row("memory of its process", ({ residentPeakBytes }) => `${(residentPeakBytes / MIB).toFixed(0)} MiB`),
    row("ClickHouse grew by", ({ clickhouseAddedBytes }) => `${(clickhouseAddedBytes / MIB).toFixed(0)} MiB`),
    row("CPU of ClickHouse", ({ clickhouseCpuSeconds }) => `${clickhouseCpuSeconds.toFixed(1)} s`),
    row("CPU of PostgreSQL", ({ postgresCpuSeconds }) => `${postgresCpuSeconds.toFixed(1)} s`),
  ]);
  const said = PASSES.map((pass) => `  ${facts[pass].sentence}\n`).join("");
  return (
    `funnel: one run over everything, ${timesOf(rounds, "medians and peaks")} on ${availableParallelism()} cores\n\n${table}\n${said}` +
    `  A run without news takes ${ratio.toFixed(1)} times as long as adding up alone.\n`
  );
}

function jsonOf(facts: Facts, { peerSeconds, ratio }: { peerSeconds: number; ratio: number }) {
  const passJson = (pass: MeasuredPass) => ({
    seconds: rounded(pass.seconds),
    resident_peak_bytes: pass.residentPeakBytes,
    clickhouse_added_bytes: pass.clickhouseAddedBytes,
    clickhouse_cpu_seconds: rounded(pass.clickhouseCpuSeconds),
    postgres_cpu_seconds: rounded(pass.postgresCpuSeconds),
  });
  return {
    all_new: passJson(facts.first),
    no_news: passJson(facts.again),
    peers: { clickhouse_sum: { seconds: rounded(peerSeconds) } },
    ratio: rounded(ratio),
  };
}
