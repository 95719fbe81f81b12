import { availableParallelism } from "node:os";
import type { BenchResult } from "../common/benchmark.js";
import { rounded, roundedAll, seconds } from "../common/format-numbers.js";
import { percentiles, type Percentiles } from "../common/percentiles.js";
import { cpuSecondsOf } from "../usage/sample-usage.js";
import { textTable } from "../common/text-table.js";
import { SENDERS, type SmallRun } from "./send-small-imports.js";

export function smallReport(run: SmallRun, { linesEach }: { linesEach: number }): BenchResult {
  const imports = run.msToDone.length;
  const perSecond = imports / run.seconds;
  const [answer, done] = [percentiles(run.msToAnswer), percentiles(run.msToDone)];
  const cpu = Object.entries(cpuSecondsOf(run.usage)).map(
    ([name, value]) => [name, (value * 1000) / imports] as const,
  );
  const text =
    `small: ${imports} imports of ${linesEach} lines, ${SENDERS} senders of one owner, on ${availableParallelism()} cores\n\n` +
    textTable([
      ["", "p50", "p90", "p99", "max"],
      ["time to the 200 answer", ...columnsOf(answer)],
      ["time to done", ...columnsOf(done)],
    ]) +
    `\n  ${perSecond.toFixed(1)} imports per second\n\n` +
    textTable([
      ["CPU per import", ""],
      ...cpu.map(([name, ms]) => [name.replaceAll("_", " "), `${ms.toFixed(2)} ms`]),
    ]);
  const json = {
    imports,
    lines_each: linesEach,
    senders: SENDERS,
    imports_per_second: rounded(perSecond),
    ms_to_answer: roundedAll(answer),
    ms_to_done: roundedAll(done),
    cpu_ms_per_import: roundedAll(Object.fromEntries(cpu)),
  };
  return { text, json };
}

function columnsOf({ p50, p90, p99, max }: Percentiles): string[] {
  return [p50, p90, p99, max].map((ms) => seconds(ms / 1000));
}
