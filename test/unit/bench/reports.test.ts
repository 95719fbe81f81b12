import { expect, test } from "vitest";
import { clusterReport } from "../../bench/cluster/cluster-report.js";
import { collectReport } from "../../bench/collect/collect-benchmark.js";
import type { MeasuredRun } from "../../bench/common/rate-facts.js";
import type { CurlRun } from "../../bench/common/run-curl.js";
import { csvReport } from "../../bench/csv/csv-benchmark.js";
import { funnelReport } from "../../bench/funnel/funnel-benchmark.js";
import { growthReport } from "../../bench/growth/growth-report.js";
import { importReport } from "../../bench/import/import-report.js";
import { logReport, type LogTurn } from "../../bench/import/log-report.js";
import { managementReport } from "../../bench/management/management-benchmark.js";
import { memoryReport } from "../../bench/memory/memory-report.js";
import type { MemoryPhase } from "../../bench/memory/record-memory.js";
import { pullReport } from "../../bench/pull/pull-benchmark.js";
import type { PartUsage, Usage } from "../../bench/usage/sample-usage.js";
import { webhooksReport } from "../../bench/webhooks/webhooks-benchmark.js";

const part = (cpuSeconds: number, megabytes = 0): PartUsage => ({
  ...{ cpuSeconds, residentBeforeBytes: 1e6, residentMaxBytes: megabytes * 1e6 },
  ...{ anonymousMaxBytes: 0, residentPeakBytes: 0 },
});
/** The program with a thread of each kind, and half of its time in each store. */
const usage = (seconds: number, megabytes = 0): Usage => ({
  service: part(seconds, megabytes),
  ...{ clickhouse: part(seconds / 2), postgres: part(seconds / 2), client: { cpuSeconds: 1 } },
  threads: { main: seconds / 4, enrichment: seconds / 2, other: seconds / 4 },
});

const curl = (seconds: number): CurlRun => ({
  ...{ seconds, bytes: 100e6, firstByteSeconds: seconds / 10, usage: usage(seconds / 2, seconds * 100) },
});
/** Of 100 requests, the last two take ten times as long. */
const rate = (ms: number, answers: Record<string, number>): MeasuredRun => ({
  latenciesMs: Float64Array.from({ length: 100 }, (_, index) => (index < 98 ? ms : ms * 10)),
  ...{
    answers: new Map(Object.entries(answers)),
    seconds: 20,
    usage: usage(ms),
    machineCpuSeconds: ms * 2 + 3,
  },
});

function cluster() {
  const measured = (seconds: number, servers: number[]) => ({ seconds, usage: usage(2), servers });
  const turn = (seconds: number, servers: number[]) => ({
    ...{ layout: "2x1", import: measured(seconds, servers), settled: servers.map((each) => each * 2) },
    export: { ...measured(1, servers), bytes: 50e6 },
  });
  return clusterReport({ turns: [turn(8, [1, 2]), turn(4, [3, 4])], events: 500_000, rounds: 2 });
}

function collect() {
  const run = (ms: number, importSeconds: number) => ({ ...rate(ms, { 302: 100 }), importSeconds });
  const rounds = [4, 30, 5].map((ms) => ({ ours: run(ms, ms), bare: run(2, 1) }));
  return collectReport({ rounds, sent: 300, stored: 299 }, { redirects: 5, seconds: 20, events: 9 });
}

function csv() {
  const rounds = [4, 10, 5].map((seconds) => ({ ours: curl(seconds), clickhouse: curl(2) }));
  return csvReport(rounds, { events: 1 });
}

function funnel() {
  const pass = (seconds: number, bytes: number) => ({
    ...{ seconds, sentence: "0 changes.", resident_peak_bytes: bytes, clickhouse_added_bytes: 0 },
    ...{ clickhouse_cpu_seconds: 1, postgres_cpu_seconds: 2 },
  });
  const round = (seconds: number, bytes: number) => ({
    ...{ all_new: pass(seconds * 2, bytes), no_news: pass(seconds, bytes), clickhouse_sum: { seconds: 2 } },
  });
  return funnelReport([round(10, 100), round(12, 300), round(30, 200)]);
}

function growth() {
  const [partsBefore, partsAtDone] = [
    { events: 4, allTables: 30 },
    { events: 11, allTables: 90 },
  ];
  const step = (stored: number, seconds: number) => ({
    ...{ stored, secondsToDone: 25, inserts: 8, usage: usage(1), usageUntilMerged: usage(seconds) },
    ...{ partsBefore, partsAtDone },
  });
  const run = { before: [step(1e6, 9)], last: [step(20e6, 14), step(21e6, 16)], peer: [step(1e6, 20)] };
  return growthReport(run, { events: 1_000_000 });
}

function imports() {
  const round = (seconds: number, peerSeconds: number) => ({
    ...{ plainBytes: 230e6, gzipBytes: 30e6, peer: { seconds: peerSeconds, usage: usage(peerSeconds) } },
    ours: {
      ...{ secondsToAnswer: seconds / 2, secondsToDone: seconds, inserts: seconds },
      usage: usage(seconds, seconds * 10),
    },
  });
  const [few, many] = [30_000, 3_000_000].map((addresses) => ({
    overridesPercent: 10,
    packages: 1,
    addresses,
  }));
  const measured = [
    { variant: few as never, rounds: [round(8, 10), round(20, 12), round(10, 30)] },
    { variant: many as never, rounds: [round(16, 10)] },
  ];
  return importReport(measured, { events: 500_000 });
}

function log() {
  const turn = (name: LogTurn["log"], codec: LogTurn["codec"]) => (secondsToDone: number) => ({
    ...{ log: name, codec, secondsToAnswer: 1, secondsToDone, usage: usage(3), broker: part(0.5) },
  });
  const turns = [
    ...[8, 10, 30].map(turn("embedded", "none")),
    ...[20, 12.5, 11].map(turn("kafka", "lz4")),
    ...[turn("embedded", "lz4")(1), turn("kafka", "none")(1)],
  ];
  const costs = (["none", "lz4"] as const).map((codec) => ({
    ...{ codec, bytesRatio: 2, packMicrosecondsPerEvent: 1, unpackMicrosecondsPerEvent: 1 },
  }));
  return logReport({ turns, events: 1_000_000, rounds: 3, costs });
}

function management() {
  const rounds = [4, 30, 5].map((ms) => ({
    ours: rate(ms, { 200: 90, "wrong: 503 for 200": 1, 201: 9 }),
    ...{ http: rate(2, { 200: 100 }), select: rate(1, { row: 100 }) },
  }));
  return managementReport(rounds, { rate: 5, seconds: 20 });
}

function memory() {
  const sample = (phase: MemoryPhase) => (megabytes: number) => ({
    ...{ seconds: 0, phase, residentBytes: { service: megabytes * 1e6, clickhouse: 2e6, postgres: 3e6 } },
    anonymousBytes: { service: 1e6, clickhouse: 0, postgres: 0 },
  });
  const importing = [400, 410, 420, 500, 600, 510].map(sample("import"));
  const samples = [...[900, 300].map(sample("before")), ...importing, ...[450, 350].map(sample("after"))];
  return memoryReport({ bytes: 2e9, events: 8_000_000, samples });
}

function pull() {
  const rounds = [4, 10, 5].map((seconds) => ({ ours: curl(seconds), registry: curl(2) }));
  return pullReport(rounds, { bytes: 100e6 });
}

function webhooks() {
  const round = (oursSeconds: number) => ({ deliveries: 1_000, oursSeconds, again: 1, peerSeconds: 1 });
  return webhooksReport([1, 2, 4].map(round));
}

const CLUSTER_IMPORT = {
  ...{ seconds: 6, cpu_seconds_per_million: { program: 4, clickhouse: 10, clickhouse_servers: [4, 6] } },
  clickhouse_cpu_seconds_per_million_with_merges: 20,
};
const IMPORTED = {
  ...{ seconds_to_answer: 5, seconds_to_done: 10, events_per_second: 50_000, ratio: 1.2 },
  peer: { seconds: 12, events_per_second: 41_666.667 },
  memory: { service: { resident_max_bytes: 200e6 } },
  cpu_seconds_per_million: { service: 20, main_thread: 5, enrichment_threads: 10, clickhouse: 10 },
};

test.each([
  [cluster, { layouts: [{ import: CLUSTER_IMPORT, export: { bytes_per_second: 50e6 } }] }],
  [collect, { ratio: 2.5, import_seconds: 5, latency_ms: { p50: 5, p99: 50 }, events_stored: 299 }],
  [csv, { throughput_mb_per_second: 20, ratio: 0.4, first_byte_later_ms: 300, service_cpu_cores: 0.5 }],
  [funnel, { all_new: { seconds: 24, resident_peak_bytes: 300 }, no_news: { seconds: 12 }, ratio: 6 }],
  [
    growth,
    {
      cost_ratio: 1.5,
      steps: [{ stored: 1e6 }, { stored: 20e6, events_per_second: 40_000 }, { stored: 21e6 }],
      new_installation: [{ cpu_seconds: { service: 1 }, cpu_seconds_until_merged: { service: 20 } }],
    },
  ],
  [imports, { variants: [IMPORTED, { seconds_to_done: 16 }], addresses: [{ few: 30_000, ratio: 0.625 }] }],
  [
    log,
    {
      ...{ ratio: 0.8, chosen: { embedded: "none", kafka: "lz4" } },
      logs: [
        { log: "embedded", codec: "none", seconds_to_done: 10, events_per_second: 100_000 },
        ...[
          { log: "kafka", codec: "none" },
          { log: "embedded", codec: "lz4" },
        ],
        { log: "kafka", codec: "lz4", seconds_to_done: 12.5, cpu_seconds: { service: 3, broker: 0.5 } },
      ],
    },
  ],
  [
    management,
    {
      ...{ answered_per_second: 5, ratio: 2.5, latency_ms: { p50: 5, p90: 5, p99: 50, max: 50 } },
      cpu_cores: { service: 0.25, postgres: 0.125, client: 0.05, others: 0.1 },
      answers: { 200: 270, 201: 27, "wrong: 503 for 200": 3 },
    },
  ],
  [
    memory,
    {
      service: {
        ...{ idle_before_bytes: 300e6, resident_max_bytes: 600e6, idle_after_bytes: 350e6 },
        ...{ first_half_median_bytes: 410e6, second_half_median_bytes: 510e6 },
      },
    },
  ],
  [pull, { megabytes_per_second: 20, ratio: 0.4, cpu_cores: 0.5, resident_max_bytes: 1e9 }],
  [webhooks, { deliveries_per_second: 500, delivered_again: 3, ratio: 0.5 }],
])("%o reports medians, peaks, rates and ratios", (result, facts) => {
  expect(result().json).toMatchObject(facts);
});
