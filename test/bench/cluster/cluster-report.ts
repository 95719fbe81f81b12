import { availableParallelism } from "node:os";
import type { BenchResult } from "../common/benchmark.js";
import { megabytes, rounded, seconds, timesOf, whole } from "../common/format-numbers.js";
import { median } from "../common/median.js";
import { textTable } from "../common/text-table.js";
import type { ClusterTurn, Measured } from "./cluster-turn.js";

export interface ClusterFacts {
  turns: readonly ClusterTurn[];
  events: number;
  rounds: number;
}

/** Medians over the rounds, by layout. */
export function clusterReport({ turns, events, rounds }: ClusterFacts): BenchResult {
  const layouts = [...new Set(turns.map(({ layout }) => layout))];
  const rows = layouts.map((layout) =>
    rowOf(
      turns.filter((turn) => turn.layout === layout),
      events,
    ),
  );
  const text =
    `import and export by shards x replicas: ${whole(events)} events, 10 % overrides, ` +
    `${timesOf(rounds)} on ${availableParallelism()} cores\n\n` +
    `${importTable(rows)}\n${exportTable(rows)}`;
  return { text, json: { events, rounds, layouts: rows.map(jsonOf) } };
}

/** CPU seconds for a million events. */
interface Cost {
  seconds: number;
  program: number;
  postgres: number;
  /** By server. */
  servers: number[];
}

interface LayoutRow {
  layout: string;
  events: number;
  import: Cost;
  /** CPU seconds of each server, with the merges that follow an import. */
  merged: number[];
  export: Cost & { bytes: number };
}

function rowOf(turns: readonly ClusterTurn[], events: number): LayoutRow {
  const perMillion = (value: number) => (value * 1e6) / events;
  const byServer = (lists: readonly (readonly number[])[]) =>
    (lists[0] ?? []).map((_, server) => perMillion(median(lists.map((list) => list[server] ?? 0))));
  const costOf = (measured: readonly Measured[]): Cost => ({
    seconds: median(measured.map((one) => one.seconds)),
    program: perMillion(median(measured.map(({ usage }) => usage.service.cpuSeconds))),
    postgres: perMillion(median(measured.map(({ usage }) => usage.postgres.cpuSeconds))),
    servers: byServer(measured.map((one) => one.servers)),
  });
  return {
    layout: turns[0]?.layout ?? "",
    events,
    import: costOf(turns.map((turn) => turn.import)),
    merged: byServer(turns.map(({ settled }) => settled)),
    export: {
      ...costOf(turns.map((turn) => turn.export)),
      bytes: median(turns.map((turn) => turn.export.bytes)),
    },
  };
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

function importTable(rows: readonly LayoutRow[]): string {
  return textTable([
    [
      "import",
      "to done",
      "events per second",
      "CPU per million: program",
      "PostgreSQL",
      "ClickHouse",
      "of each server",
      "with merges",
    ],
    ...rows.map(({ layout, events, import: cost, merged }) => [
      layout,
      seconds(cost.seconds),
      whole(events / cost.seconds),
      seconds(cost.program),
      seconds(cost.postgres),
      seconds(sum(cost.servers)),
      cost.servers.map((value) => value.toFixed(1)).join(" "),
      seconds(sum(merged)),
    ]),
  ]);
}

function exportTable(rows: readonly LayoutRow[]): string {
  return textTable([
    ["export as CSV", "", "throughput", "CPU per million: program", "ClickHouse", "of each server"],
    ...rows.map(({ layout, export: cost }) => [
      layout,
      seconds(cost.seconds),
      `${megabytes(cost.bytes / cost.seconds)}/s`,
      seconds(cost.program),
      seconds(sum(cost.servers)),
      cost.servers.map((value) => value.toFixed(2)).join(" "),
    ]),
  ]);
}

function jsonOf({ layout, events, import: taken, merged, export: given }: LayoutRow): object {
  return {
    layout,
    import: {
      ...costJson(taken),
      events_per_second: Math.round(events / taken.seconds),
      ...mergedJson(merged),
    },
    export: {
      ...costJson(given),
      bytes: given.bytes,
      bytes_per_second: Math.round(given.bytes / given.seconds),
    },
  };
}

function costJson(cost: Cost): object {
  return {
    seconds: rounded(cost.seconds),
    cpu_seconds_per_million: {
      program: rounded(cost.program),
      postgres: rounded(cost.postgres),
      clickhouse: rounded(sum(cost.servers)),
      clickhouse_servers: cost.servers.map(rounded),
    },
  };
}

function mergedJson(merged: readonly number[]): object {
  return { clickhouse_cpu_seconds_per_million_with_merges: rounded(sum(merged)) };
}
