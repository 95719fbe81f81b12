import { availableParallelism } from "node:os";
import type { BenchResult } from "../common/benchmark.js";
import { rounded, seconds, whole } from "../common/format-numbers.js";
import { percentiles } from "../common/percentiles.js";
import { textTable } from "../common/text-table.js";

export interface FairRun {
  /** Milliseconds to `done` of each small import. */
  alone: readonly number[];
  beside: readonly number[];
  /** Of all large imports together. */
  largeLines: number;
  largeSeconds: number;
}

export function fairReport({ alone, beside, largeLines, largeSeconds }: FairRun): BenchResult {
  const rows = Object.entries({ alone, "beside large ones": beside }).map(([name, times]) => {
    const { p50, max } = percentiles(Float64Array.from(times));
    return { name, count: times.length, p50, max };
  });
  const text =
    `fair: time to done of small imports on ${availableParallelism()} cores\n\n` +
    textTable([
      ["", "imports", "p50", "max"],
      ...rows.map(({ name, count, p50, max }) => [
        name,
        whole(count),
        seconds(p50 / 1000),
        seconds(max / 1000),
      ]),
    ]) +
    `\n  the large imports: ${whole(largeLines)} events in ${seconds(largeSeconds)}, ` +
    `${whole(largeLines / largeSeconds)} per second\n`;
  const [first, second] = rows.map(({ count, p50, max }) => ({
    imports: count,
    ms_to_done: { p50: rounded(p50), max: rounded(max) },
  }));
  const large = { events: largeLines, seconds: rounded(largeSeconds) };
  return { text, json: { alone: first, beside: second, large } };
}
