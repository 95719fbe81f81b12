import type { BenchResult } from "../common/benchmark.js";
import { timesOf, whole } from "../common/format-numbers.js";
import { overRounds } from "../common/median.js";
import { factTable, report } from "../common/report.js";
import type { ClusterTurn, Measured } from "./cluster-turn.js";

export interface ClusterFacts {
  turns: readonly ClusterTurn[];
  events: number;
  rounds: number;
}

/** By layout. */
export function clusterReport({ turns, events, rounds }: ClusterFacts): BenchResult {
  const names = [...new Set(turns.map(({ layout }) => layout))];
  const layouts = names.map((layout) =>
    overRounds(turns.filter((turn) => turn.layout === layout).map((turn) => factsOf(turn, events))),
  );
  return report({
    title: `import and export by shards x replicas: ${whole(events)} events, 10 % overrides, ${timesOf(rounds)}`,
    tables: [
      factTable(
        "import",
        layouts.map((facts) => [facts.layout, facts.import]),
      ),
      factTable(
        "export as CSV",
        layouts.map((facts) => [facts.layout, facts.export]),
      ),
    ],
    json: { events, rounds, layouts },
  });
}

function factsOf({ layout, import: taken, settled, export: given }: ClusterTurn, events: number) {
  return {
    layout,
    import: {
      ...costOf(taken, events),
      events_per_second: events / taken.seconds,
      clickhouse_cpu_seconds_per_million_with_merges: (sum(settled) * 1e6) / events,
    },
    export: { ...costOf(given, events), bytes: given.bytes, bytes_per_second: given.bytes / given.seconds },
  };
}

function costOf({ seconds, usage, servers }: Measured, events: number) {
  const perMillion = (value: number) => (value * 1e6) / events;
  return {
    seconds,
    cpu_seconds_per_million: {
      program: perMillion(usage.service.cpuSeconds),
      postgres: perMillion(usage.postgres.cpuSeconds),
      clickhouse: perMillion(sum(servers)),
      clickhouse_servers: servers.map(perMillion),
    },
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
