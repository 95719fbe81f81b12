import type { BenchContext, BenchOptions, BenchResult, Benchmark } from "../common/benchmark.js";
import { makeTemporaryFolder } from "../common/temporary-folder.js";
import { clusterReport } from "./cluster-report.js";
import { runClusterTurn, type ClusterTurn } from "./cluster-turn.js";
import { LAYOUTS, openLayout } from "./open-layout.js";

/** An import to `done` and the export of its events, on one server and on clusters. */
export const clusterBenchmark: Benchmark = {
  name: "cluster",
  summary: "import and export on 1x1 and 2x1 embedded servers and on those of CLICKHOUSE_SHARDS, in turns",
  run: runClusterBenchmark,
};

async function runClusterBenchmark(
  { events, seed, rounds }: BenchOptions,
  { open, onProgress }: BenchContext,
): Promise<BenchResult> {
  const { path: folder } = open.use(makeTemporaryFolder());
  const turns: ClusterTurn[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    // Every other round runs in reverse order, so that slow changes of the machine affect all layouts equally.
    for (const layout of round % 2 === 1 ? LAYOUTS : [...LAYOUTS].reverse()) {
      await using servers = await openLayout(layout, { folder, open });
      if (servers === undefined) {
        onProgress("servers with replicas are left out: CLICKHOUSE_SHARDS and CLICKHOUSE_URL name none");
        continue;
      }
      onProgress(`round ${round} of ${rounds}: ${servers.name}`);
      turns.push(await runClusterTurn(servers, { folder, events, seed, open }));
    }
  }
  return clusterReport({ turns, events, rounds });
}
