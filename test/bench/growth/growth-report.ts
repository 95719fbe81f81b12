import type { BenchResult } from "../common/benchmark.js";
import { whole } from "../common/format-numbers.js";
import { factTable, report } from "../common/report.js";
import { cpuSecondsOf, type Usage } from "../usage/sample-usage.js";
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
  const cost_ratio = sumOf(last) / sumOf(peer);
  const [steps, fresh] = [[...before, ...last], peer].map((all) => all.map((step) => factsOf(step, events)));
  const tables = Object.entries({ "stored before": steps, "new installation": fresh }).map(
    ([heading, all = []]) =>
      factTable(
        heading,
        all.map(({ stored, ...facts }) => [whole(stored), facts]),
      ),
  );
  return report({
    title: `growth: the next ${whole(events)} events`,
    tables,
    notes: [`CPU of the last step over the new installation's, measured in turns: ${cost_ratio.toFixed(2)}`],
    json: { events, cost_ratio, steps, new_installation: fresh },
  });
}

function sumOf(steps: readonly GrowthStep[]): number {
  return steps.reduce((sum, step) => sum + totalCpu(step), 0);
}

function totalCpu({ usageUntilMerged: { service, clickhouse, postgres } }: GrowthStep): number {
  return service.cpuSeconds + clickhouse.cpuSeconds + postgres.cpuSeconds;
}

function factsOf(step: GrowthStep, events: number) {
  const partsOf = ({ events: ofEvents, allTables }: ActiveParts) => ({
    events: ofEvents,
    all_tables: allTables,
  });
  return {
    stored: step.stored,
    seconds_to_done: step.secondsToDone,
    events_per_second: events / step.secondsToDone,
    inserts: step.inserts,
    rows_of_an_insert: Math.round(events / step.inserts),
    cpu_seconds: cpuSecondsOf(step.usage),
    cpu_seconds_until_merged: cpuSecondsOf(step.usageUntilMerged),
    active_parts: { before: partsOf(step.partsBefore), at_done: partsOf(step.partsAtDone) },
  };
}
