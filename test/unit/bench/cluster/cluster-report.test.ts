import { expect, test } from "vitest";
import { clusterReport } from "../../../bench/cluster/cluster-report.js";
import type { ClusterTurn } from "../../../bench/cluster/cluster-turn.js";
import { usageOf } from "../../../bench/usage/given-usage.js";

const usage = usageOf({
  service: 2,
  clickhouse: 0,
  postgres: 0.5,
  client: 1,
  threads: { main: 1, enrichment: 0.75, other: 0.25 },
});

const turnOf = (
  layout: string,
  { seconds, servers }: { seconds: number; servers: number[] },
): ClusterTurn => ({
  layout,
  import: { seconds, usage, servers },
  settled: servers.map((value) => value * 2),
  export: { seconds: 1, usage, servers: servers.map(() => 0.5), bytes: 50_000_000 },
});

const turns = [
  turnOf("1x1", { seconds: 4, servers: [3] }),
  turnOf("2x1", { seconds: 8, servers: [1, 2] }),
  turnOf("2x1", { seconds: 4, servers: [3, 4] }),
];
const report = clusterReport({ turns, events: 500_000, rounds: 2 });

test("has the events per second of each layout, and processor seconds per million by server", () => {
  expect(report.json).toMatchObject({
    events: 500_000,
    layouts: [
      {
        layout: "1x1",
        import: {
          events_per_second: 125_000,
          cpu_seconds_per_million: { program: 4, postgres: 1, clickhouse: 6, clickhouse_servers: [6] },
          clickhouse_cpu_seconds_per_million_with_merges: 12,
        },
      },
      {
        layout: "2x1",
        import: { seconds: 6, cpu_seconds_per_million: { clickhouse: 10, clickhouse_servers: [4, 6] } },
        export: { bytes_per_second: 50_000_000, cpu_seconds_per_million: { clickhouse: 2 } },
      },
    ],
  });
});

test("gives every number a unit", () => {
  expect(report.text).toMatch(/2x1 +6\.00 s +83,333 +4\.00 s +1\.00 s +10\.00 s +4\.0 6\.0 +20\.00 s\n/);
  expect(report.text).toMatch(/1x1 +1\.00 s +50 MB\/s +4\.00 s +1\.00 s +1\.00\n/);
});
