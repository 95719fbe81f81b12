import { availableParallelism } from "node:os";
import type { BenchResult } from "../common/benchmark.js";
import { rounded, roundedAll } from "../common/format-numbers.js";
import { percentiles } from "../common/percentiles.js";
import type { SentAtRate } from "../common/send-at-rate.js";
import { textTable } from "../common/text-table.js";

export type ViewedPages = SentAtRate;

export interface DashboardRun {
  alone: ViewedPages;
  /** The same statistics as JSON, without a page. */
  answers: ViewedPages;
  beside: ViewedPages;
  /** Medians of single views, without and with a filter. */
  oneMs: number;
  filteredMs: number;
  /** Bytes over the wire. */
  sizes: { first: number; later: number };
  importSeconds: number;
}

const RUNS = ["alone", "answers", "beside"] as const;
const TITLES = { alone: "page", answers: "JSON of the API", beside: "page beside an import" } as const;
const LATENCIES = ["p50", "p90", "p99", "max"] as const;

export function dashboardReport(
  run: DashboardRun,
  { views, seconds, events }: { views: number; seconds: number; events: number },
): BenchResult {
  const latencies = Object.fromEntries(RUNS.map((name) => [name, percentiles(run[name].latenciesMs)]));
  const table = textTable([
    ["", ...RUNS.map((name) => TITLES[name])],
    ...LATENCIES.map((at) => [at, ...RUNS.map((name) => `${latencies[name]?.[at].toFixed(0) ?? ""} ms`)]),
    ["answers", ...RUNS.map((name) => answersOf(run[name]))],
  ]);
  return {
    text:
      `dashboard: ${views} page views/s for ${seconds} s, ${events} events in 31 days, latency from the due time, on ${availableParallelism()} cores\n` +
      `\n${table}\n  One view takes ${run.oneMs.toFixed(0)} ms, with a filter ${run.filteredMs.toFixed(0)} ms. ` +
      `A first visit loads ${kilobytes(run.sizes.first)}, a later one ${kilobytes(run.sizes.later)}. ` +
      `The import took ${run.importSeconds.toFixed(1)} s.\n`,
    json: {
      views_per_second: views,
      seconds,
      events,
      page: latencyJson(run.alone),
      page_beside_import: latencyJson(run.beside),
      peers: { api_json: latencyJson(run.answers) },
      one_view_ms: rounded(run.oneMs),
      one_filtered_view_ms: rounded(run.filteredMs),
      first_visit_bytes: run.sizes.first,
      later_visit_bytes: run.sizes.later,
      import_seconds: rounded(run.importSeconds),
    },
  };
}

function latencyJson(viewed: ViewedPages) {
  return {
    latency_ms: roundedAll({ ...percentiles(viewed.latenciesMs) }),
    answers: Object.fromEntries([...viewed.answers].sort()),
  };
}

function answersOf({ answers }: ViewedPages): string {
  return [...answers]
    .sort()
    .map(([answer, count]) => `${answer}: ${count}`)
    .join(", ");
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}
