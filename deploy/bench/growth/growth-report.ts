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

/** `cost_ratio`: CPU seconds of the program and its stores, merges included, at the last step over those at the first. */
export function growthReport(steps: readonly GrowthStep[], { events }: { events: number }): BenchResult {
  const [first, last] = [steps[0], steps.at(-1)];
  const ratio = first && last ? totalCpu(last) / totalCpu(first) : 1;
  const text =
    `growth: the next ${whole(events)} events on ${availableParallelism()} cores; CPU of ClickHouse until its merges end\n\n` +
    `${textTable([HEADING, ...steps.map((step) => rowOf(step, events))])}\n` +
    `  CPU of the last over the first: ${ratio.toFixed(2)}\n`;
  return { text, json: { events, cost_ratio: rounded(ratio), steps: steps.map(jsonOf) } };
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
