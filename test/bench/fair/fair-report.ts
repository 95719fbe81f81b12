import { availableParallelism } from "node:os";
import type { BenchResult } from "../common/benchmark.js";
import { rounded, roundedAll, seconds, whole } from "../common/format-numbers.js";
import { percentiles } from "../common/percentiles.js";
import { cpuSecondsOf, type Usage } from "../usage/sample-usage.js";
import { textTable } from "../common/text-table.js";

/** The times of one small import, since its POST. */
export interface SmallTimes {
  enrichedMs: number;
  doneMs: number;
}

export interface FairRun {
  alone: readonly SmallTimes[];
  beside: readonly SmallTimes[];
  /** The lines of all large imports together. */
  largeLines: number;
  largeSeconds: number;
  /** While the large imports ran. */
  usage: Usage;
}

export function fairReport({ alone, beside, largeLines, largeSeconds, usage }: FairRun): BenchResult {
  const cpuSeconds = cpuSecondsOf(usage);
  const rows = Object.entries({ alone, "beside large ones": beside }).map(([name, times]) => {
    const enriched = percentiles(Float64Array.from(times, ({ enrichedMs }) => enrichedMs));
    const done = percentiles(Float64Array.from(times, ({ doneMs }) => doneMs));
    return { name, count: times.length, enriched, done };
  });
  const text =
    `fair: small imports on ${availableParallelism()} cores\n\n` +
    textTable([
      ["", "imports", "enriched p50", "max", "done p50", "max"],
      ...rows.map(({ name, count, enriched, done }) => [
        name,
        whole(count),
        ...[enriched.p50, enriched.max, done.p50, done.max].map((ms) => seconds(ms / 1000)),
      ]),
    ]) +
    `\n  the large imports: ${whole(largeLines)} events in ${seconds(largeSeconds)}, ` +
    `${whole(largeLines / largeSeconds)} per second\n\n` +
    textTable([
      ["CPU beside large ones", ""],
      ...Object.entries(cpuSeconds).map(([name, value]) => [name.replaceAll("_", " "), seconds(value)]),
    ]);
  const [first, second] = rows.map(({ count, enriched, done }) => ({
    imports: count,
    ms_to_enriched: { p50: rounded(enriched.p50), max: rounded(enriched.max) },
    ms_to_done: { p50: rounded(done.p50), max: rounded(done.max) },
  }));
  const large = { events: largeLines, seconds: rounded(largeSeconds), cpu_seconds: roundedAll(cpuSeconds) };
  return { text, json: { alone: first, beside: second, large } };
}
