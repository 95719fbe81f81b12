import { Counter, Gauge, type Registry } from "prom-client";
import { shareFor } from "../../schemas/async/share-work.js";
import type { ServerFacts, ServerState } from "../../schemas/shards.js";
import { type CleanUpDependencies, REMOVED_KINDS } from "../schedule/scheduled-jobs.js";
import { RUN_OUTCOMES, type ScheduleDependencies, type ScheduledJob } from "../schedule/start-schedule.js";

export function createScheduleMetrics(
  registry: Registry,
  jobs: readonly Pick<ScheduledJob, "name">[],
): Pick<ScheduleDependencies, "onRun"> {
  const runs = new Counter({
    name: "scheduled_job_runs_total",
    help: "Runs of scheduled jobs by outcome: done, elsewhere (another process did it), or failed",
    // Not `job`, which Prometheus sets to the scraped job.
    labelNames: ["name", "outcome"],
    registers: [registry],
  });
  for (const { name } of jobs) for (const outcome of RUN_OUTCOMES) runs.inc({ name, outcome }, 0);
  return { onRun: (name, outcome) => runs.inc({ name, outcome }) };
}

export function createRetentionMetrics(registry: Registry): Pick<CleanUpDependencies, "onRemoved"> {
  const registers = [registry];
  const labelNames = ["kind"];
  const rows = new Counter({
    name: "retention_removed_rows_total",
    help: "Expired rows that this process deleted, by kind",
    labelNames,
    registers,
  });
  const bytes = new Counter({
    name: "retention_removed_bytes_total",
    help: "Bytes of the deleted rows: events as stored, and the texts of log entries and rejected lines",
    labelNames,
    registers,
  });
  const lastRun = new Gauge({
    name: "retention_last_run_timestamp_seconds",
    help: "Unix time of this process's last search for expired rows; 0 if it never searched",
    labelNames,
    registers,
  });
  for (const kind of REMOVED_KINDS) {
    rows.inc({ kind }, 0);
    bytes.inc({ kind }, 0);
    lastRun.set({ kind }, 0);
  }
  return {
    onRemoved(kind, removed) {
      rows.inc({ kind }, removed.rows);
      bytes.inc({ kind }, removed.bytes);
      lastRun.setToCurrentTime({ kind });
    },
  };
}

interface ClusterSources {
  readServers: () => Promise<ServerState[]>;
}

const SERVER = ["shard", "server"];
/** One scrape asks for several measures at once. */
const SAME_MS = 1_000;

/** How the servers of a ClickHouse cluster are: facts of the whole system, which every process of `jobs` reports. */
export function createClusterMetrics(registry: Registry, { readServers }: ClusterSources): void {
  const read = shareFor(SAME_MS, readServers);
  const registers = [registry];
  new Gauge({
    name: "clickhouse_server_up",
    help: "1 if the cluster server responds, otherwise 0",
    labelNames: SERVER,
    registers,
    async collect() {
      this.reset();
      for (const { shard, server, isUp } of await read()) this.set({ shard, server }, isUp ? 1 : 0);
    },
  });
  new Gauge({
    name: "clickhouse_shard_takes_inserts",
    help: "1 if enough servers of the shard respond and are writable, otherwise 0",
    labelNames: ["shard"],
    registers,
    async collect() {
      this.reset();
      for (const [shard, takes] of shardsThatTake(await read())) this.set({ shard }, takes ? 1 : 0);
    },
  });
  for (const [Kind, measures] of [[Gauge, GAUGES] as const, [Counter, COUNTERS] as const])
    for (const [name, help, valueOf] of measures)
      new Kind({
        name,
        help,
        labelNames: SERVER,
        registers,
        async collect() {
          this.reset();
          for (const { shard, server, facts } of await read())
            if (facts !== undefined) this.inc({ shard, server }, valueOf(facts));
        },
      });
}

type Measure = readonly [name: string, help: string, valueOf: (facts: ServerFacts) => number];

const GAUGES: readonly Measure[] = [
  [
    "clickhouse_read_only_tables",
    "Tables that are read-only because their server has no Keeper session",
    ({ readOnlyTables }) => readOnlyTables,
  ],
  [
    "clickhouse_replication_queue_entries",
    "Parts and merges in the server's replication queue",
    ({ queueEntries }) => queueEntries,
  ],
  [
    "clickhouse_replication_delay_seconds",
    "Replication delay of the server's most delayed table",
    ({ delaySeconds }) => delaySeconds,
  ],
];

const COUNTERS: readonly Measure[] = [
  [
    "clickhouse_quorum_failures_total",
    "Inserts that failed or had an unknown result because too few servers of the shard responded",
    ({ quorumFailures }) => quorumFailures,
  ],
];

/** By shard. */
export function shardsThatTake(states: readonly ServerState[]): Map<string, boolean> {
  const taking = new Map(states.map(({ shard }) => [shard, 0]));
  for (const { shard, facts } of states)
    if (facts?.readOnlyTables === 0) taking.set(shard, (taking.get(shard) ?? 0) + 1);
  const quorums = new Map(states.map(({ shard, quorum }) => [shard, quorum]));
  return new Map([...taking].map(([shard, servers]) => [shard, servers >= (quorums.get(shard) ?? 0)]));
}
