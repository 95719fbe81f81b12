import { availableParallelism } from "node:os";
import type { BenchResult } from "../common/benchmark.js";
import type { CurlRun } from "../common/run-curl.js";
import type { CsvRound } from "./csv-round.js";
import { median } from "../common/median.js";
import { textTable } from "../common/text-table.js";
import { rounded, timesOf } from "../common/format-numbers.js";

const RUNS = ["ours", "clickhouse"] as const;

interface RunFacts {
  megabytesPerSecond: number;
  firstByteMs: number;
  /** The cores that the program itself uses: CPU seconds a second. */
  cpuCores: number;
  /** With the lookup tables of enrichment, which runs in the same process. */
  residentBeforeBytes: number;
  residentMaxBytes: number;
}

/** Medians over the rounds. `ratio`: our throughput over that of curl from ClickHouse. */
export function csvReport(rounds: readonly CsvRound[], { events }: { events: number }): BenchResult {
  const [ours, clickhouse] = RUNS.map((run) => factsOf(rounds.map((round) => round[run])));
  if (ours === undefined || clickhouse === undefined) throw new Error("no run was measured");
  const ratio = median(rounds.map((round) => throughput(round.ours) / throughput(round.clickhouse)));
  const laterMs = median(
    rounds.map((round) => (round.ours.firstByteSeconds - round.clickhouse.firstByteSeconds) * 1000),
  );
  const row = (title: string, cell: (facts: RunFacts) => string) => [title, cell(ours), cell(clickhouse)];
  const table = textTable([
    ["", "this program", "curl from ClickHouse"],
    row("throughput", ({ megabytesPerSecond }) => `${megabytesPerSecond.toFixed(0)} MB/s`),
    row("first byte", ({ firstByteMs }) => `${firstByteMs.toFixed(0)} ms`),
    row("CPU of the program", ({ cpuCores }) => `${(cpuCores * 100).toFixed(0)} %`),
    row("memory before", ({ residentBeforeBytes }) => `${(residentBeforeBytes / 1e6).toFixed(0)} MB`),
    row("memory at most", ({ residentMaxBytes }) => `${(residentMaxBytes / 1e6).toFixed(0)} MB`),
  ]);
  const text =
    `csv: ${events} events, ${timesOf(rounds.length)} on ${availableParallelism()} cores\n\n${table}\n` +
    `  ${ratio.toFixed(2)} of the throughput of curl from ClickHouse, the first byte ${laterMs.toFixed(0)} ms later.\n`;
  const json = {
    events,
    rounds: rounds.length,
    ...jsonOf(ours),
    peers: { clickhouse_curl: jsonOf(clickhouse) },
    ratio: rounded(ratio),
    first_byte_later_ms: rounded(laterMs),
  };
  return { text, json };
}

function throughput({ bytes, seconds }: CurlRun): number {
  return bytes / 1e6 / seconds;
}

function factsOf(runs: readonly CurlRun[]): RunFacts {
  return {
    megabytesPerSecond: median(runs.map(throughput)),
    firstByteMs: median(runs.map(({ firstByteSeconds }) => firstByteSeconds * 1000)),
    cpuCores: median(runs.map(({ usage, seconds }) => usage.service.cpuSeconds / seconds)),
    residentBeforeBytes: Math.min(...runs.map(({ usage }) => usage.service.residentBeforeBytes)),
    residentMaxBytes: Math.max(...runs.map(({ usage }) => usage.service.residentMaxBytes)),
  };
}

function jsonOf({
  megabytesPerSecond,
  firstByteMs,
  cpuCores,
  residentBeforeBytes,
  residentMaxBytes,
}: RunFacts) {
  return {
    throughput_mb_per_second: rounded(megabytesPerSecond),
    first_byte_ms: rounded(firstByteMs),
    service_cpu_cores: rounded(cpuCores),
    service_resident_before_bytes: residentBeforeBytes,
    service_resident_max_bytes: residentMaxBytes,
  };
}
