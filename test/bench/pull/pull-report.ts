import { availableParallelism } from "node:os";
import type { BenchResult } from "../common/benchmark.js";
import { megabytes, rounded, timesOf } from "../common/format-numbers.js";
import { median } from "../common/median.js";
import { textTable } from "../common/text-table.js";
import type { CurlRun } from "../common/run-curl.js";

export interface PullRound {
  ours: CurlRun;
  registry: CurlRun;
}

/** Medians over the rounds. `ratio`: our throughput over that of the registry. */
export function pullReport(rounds: readonly PullRound[], { bytes }: { bytes: number }): BenchResult {
  const [ours, registry] = [rounds.map((round) => round.ours), rounds.map((round) => round.registry)];
  const ratio = median(rounds.map((round) => throughput(round.ours) / throughput(round.registry)));
  const memoryOf = (of: "residentBeforeBytes" | "residentMaxBytes") =>
    median(ours.map(({ usage }) => usage.service[of]));
  const [before, most] = [memoryOf("residentBeforeBytes"), memoryOf("residentMaxBytes")];
  const cpuCores = median(ours.map(({ usage, seconds }) => usage.service.cpuSeconds / seconds));
  const table = textTable([
    ["", "through this program", "from the registry"],
    ["throughput", ...[ours, registry].map((runs) => `${median(runs.map(throughput)).toFixed(0)} MB/s`)],
    ["CPU of the program", `${(cpuCores * 100).toFixed(0)} %`, ""],
    ["memory before", megabytes(before), ""],
    ["memory at most", megabytes(most), ""],
  ]);
  return {
    text:
      `pull: a blob of ${megabytes(bytes)}, ${timesOf(rounds.length)} on ${availableParallelism()} cores\n\n${table}\n` +
      `  ${ratio.toFixed(2)} of the throughput of the registry.\n`,
    json: {
      bytes,
      rounds: rounds.length,
      megabytes_per_second: rounded(median(ours.map(throughput))),
      cpu_cores: rounded(cpuCores),
      resident_before_bytes: before,
      resident_max_bytes: most,
      peers: { registry: { megabytes_per_second: rounded(median(registry.map(throughput))) } },
      ratio: rounded(ratio),
    },
  };
}

function throughput({ bytes, seconds }: CurlRun): number {
  return bytes / 1e6 / seconds;
}
