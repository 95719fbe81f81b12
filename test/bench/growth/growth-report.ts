import { availableParallelism } from "node:os";
import type { BenchResult } from "../common/benchmark.js";
import { rounded, roundedAll, seconds, whole } from "../common/format-numbers.js";
import { cpuSecondsOf, type Usage } from "../usage/sample-usage.js";
import { textTable } from "../common/text-table.js";
import type { ActiveParts } from "./count-parts.js";

/** One measured import with a number of events stored before. */
export interface GrowthStep {
  stored: number;
  secondsToDone: number;
  inserts: number;
  usage: Usage;
  /** Until ClickHouse had no running merges after it. */
  usageUntilMerged: Usage;
  partsBefore: ActiveParts;
  partsAtDone: ActiveParts;
}

export interface GrowthRun {
  /** The steps before the last, of the installation that grows. */
  before: GrowthStep[];
  /** Its last step, each round's. */
  last: GrowthStep[];
  /** A new installation at the first step, in turns with the last one. */
  peer: GrowthStep[];
}

/** `cost_ratio`: CPU seconds of the program and its stores, merges included, at the last step over those of the peer. */
export function growthReport({ before, last, peer }: GrowthRun, { events }: { events: number }): BenchResult {
  const ratio = sumOf(last) / sumOf(peer);
  const rows = [...before, ...last].map((step) => rowOf(step, events));
  const text =
    `growth: the next ${whole(events)} events on ${availableParallelism()} cores; CPU of ClickHouse until its merges end\n\n` +
    `${textTable([HEADING, ...rows, ["new installation"], ...peer.map((step) => rowOf(step, events))])}\n` +
    `  CPU of the last step over the new installation's, measured in turns: ${ratio.toFixed(2)}\n`;
  const steps = { steps: [...before, ...last].map(jsonOf), new_installation: peer.map(jsonOf) };
  return { text, json: { events, cost_ratio: rounded(ratio), ...steps } };
}

function sumOf(steps: readonly GrowthStep[]): number {
  return steps.reduce((sum, step) => sum + totalCpu(step), 0);
}

function totalCpu({ usageUntilMerged: { service, clickhouse, postgres } }: GrowthStep): number {
  return service.cpuSeconds + clickhouse.cpuSeconds + postgres.cpuSeconds;
}

const HEADING = [
  "stored before",
  "to done",
  "events/s",
  "program",
  "ClickHouse to done",
  "until merged",
  "PostgreSQL",
  "rows of an insert",
  "parts of events",
  "of all tables",
];

function rowOf(step: GrowthStep, events: number): string[] {
  const { stored, secondsToDone, inserts, usage, usageUntilMerged, partsBefore, partsAtDone } = step;
  return [
    whole(stored),
    seconds(secondsToDone),
    whole(events / secondsToDone),
    seconds(usage.service.cpuSeconds),
    seconds(usage.clickhouse.cpuSeconds),
    seconds(usageUntilMerged.clickhouse.cpuSeconds),
    seconds(usage.postgres.cpuSeconds),
    whole(events / inserts),
    `${partsBefore.events} to ${partsAtDone.events}`,
    `${partsBefore.allTables} to ${partsAtDone.allTables}`,
  ];
}

function jsonOf({
  stored,
  secondsToDone,
  inserts,
  usage,
  usageUntilMerged,
  partsBefore,
  partsAtDone,
}: GrowthStep): object {
  return {
    stored,
    seconds_to_done: rounded(secondsToDone),
    inserts,
    cpu_seconds: roundedAll(cpuSecondsOf(usage)),
    cpu_seconds_until_merged: roundedAll(cpuSecondsOf(usageUntilMerged)),
    active_parts: {
      before: { events: partsBefore.events, all_tables: partsBefore.allTables },
      at_done: { events: partsAtDone.events, all_tables: partsAtDone.allTables },
    },
  };
}
