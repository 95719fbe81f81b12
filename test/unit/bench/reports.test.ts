import { describe, expect, test } from "vitest";
import { clusterReport } from "../../bench/cluster/cluster-report.js";
import { median } from "../../bench/common/median.js";
import { fairReport } from "../../bench/fair/fair-report.js";
import { funnelReport } from "../../bench/funnel/funnel-report.js";
import { growthReport, type GrowthStep } from "../../bench/growth/growth-report.js";
import { importReport } from "../../bench/import/import-report.js";
import { logReport, type LogTurn } from "../../bench/import/log-report.js";
import { type Looked, lookReport } from "../../bench/look/look-report.js";
import { managementReport } from "../../bench/management/management-report.js";
import { memoryReport } from "../../bench/memory/memory-report.js";
import type { MemoryPhase } from "../../bench/memory/record-memory.js";
import { smallReport } from "../../bench/small/small-report.js";
import { webhooksReport } from "../../bench/webhooks/webhooks-report.js";
import { CODECS } from "../../../schemas/records/raw-chunk.js";
import { partUsage, usageOf } from "../../bench/usage/given-usage.js";

const all = (seconds: number, threads = { main: 1, enrichment: 0.75, other: 0.25 }) =>
  usageOf({ service: seconds, clickhouse: seconds, postgres: seconds, client: 1, threads });

function cluster() {
  const usage = usageOf({ service: 2, postgres: 0.5, client: 1 });
  const turnOf = (layout: string, seconds: number, servers: number[]) => ({
    layout,
    import: { seconds, usage, servers },
    settled: servers.map((value) => value * 2),
    export: { seconds: 1, usage, servers: servers.map(() => 0.5), bytes: 50_000_000 },
  });
  const turns = [turnOf("1x1", 4, [3]), turnOf("2x1", 8, [1, 2]), turnOf("2x1", 4, [3, 4])];
  return clusterReport({ turns, events: 500_000, rounds: 2 });
}

function fair() {
  const times = (doneMs: number) => ({ enrichedMs: doneMs / 2, doneMs });
  return fairReport({
    alone: [300, 200, 250].map(times),
    beside: [900, 2_500, 1_100].map(times),
    largeLines: 3_000_000,
    largeSeconds: 60,
    usage: all(30, { main: 10, enrichment: 15, other: 5 }),
  });
}

function funnel() {
  const pass = (seconds: number, mib: number, sentence: string) => ({
    ...{ seconds, sentence, residentPeakBytes: mib * 2 ** 20, clickhouseAddedBytes: 2 ** 20 },
    ...{ clickhouseCpuSeconds: 1, postgresCpuSeconds: 2 },
  });
  const round = (seconds: number, mib: number) => ({
    first: pass(seconds * 2, mib, "200000 changes."),
    again: pass(seconds, mib, "0 changes."),
    peerSeconds: 2,
  });
  return funnelReport([round(10, 100), round(12, 300), round(30, 200)]);
}

function growth() {
  const usage = (clickhouse: number) =>
    usageOf({
      ...{ service: 20, clickhouse, postgres: 1, client: 2 },
      threads: { main: 4, enrichment: 15, other: 1 },
    });
  const step = (stored: number, clickhouseSeconds: number): GrowthStep => ({
    ...{ stored, secondsToDone: 25, inserts: 8 },
    usage: usage(clickhouseSeconds - 5),
    usageUntilMerged: usage(clickhouseSeconds),
    partsBefore: { events: 4, allTables: 30 },
    partsAtDone: { events: 11, allTables: 90 },
  });
  const run = {
    before: [step(1_000_000, 10)],
    last: [step(20_000_000, 37), step(21_000_000, 41)],
    peer: [step(1_000_000, 21), step(2_000_000, 17)],
  };
  return growthReport(run, { events: 1_000_000 });
}

function imports(events: number) {
  const usage = (megabytes: number, cpuSeconds: number) => {
    const threads = { main: cpuSeconds / 4, enrichment: cpuSeconds / 2, other: cpuSeconds / 4 };
    const part = {
      cpuSeconds,
      residentBeforeBytes: 1_000_000,
      residentMaxBytes: megabytes * 1_000_000,
      anonymousMaxBytes: 2_000_000,
      residentPeakBytes: 900_000_000,
    };
    return { service: part, clickhouse: part, postgres: part, threads, client: { cpuSeconds } };
  };
  const round = (seconds: number, peerSeconds: number) => ({
    ...{ plainBytes: 230_000_000, gzipBytes: 30_000_000 },
    ours: {
      ...{ secondsToAnswer: seconds / 2, secondsToDone: seconds, inserts: seconds },
      usage: usage(seconds * 10, seconds),
    },
    peer: { seconds: peerSeconds, usage: usage(300, peerSeconds) },
  });
  const rounds = [round(8, 10), round(20, 12), round(10, 30)];
  const [first, second] = [
    { overridesPercent: 10, packages: 1 },
    { overridesPercent: 100, packages: 50 },
  ];
  return importReport(
    [
      { variant: { ...first, addresses: 30_000 }, rounds },
      { variant: { ...second, addresses: 30_000 }, rounds },
      { variant: { ...first, addresses: 3_000_000 }, rounds: [round(16, 10)] },
    ],
    { events },
  );
}

function log() {
  const turn = (name: LogTurn["log"], codec: LogTurn["codec"], seconds: number) => ({
    ...{ log: name, codec, secondsToAnswer: seconds / 2, secondsToDone: seconds },
    usage: all(3),
    broker: partUsage(0.5),
  });
  const turns = [
    ...[8, 10, 30].map((seconds) => turn("embedded", "none", seconds)),
    ...[20, 12.5, 11].map((seconds) => turn("kafka", "lz4", seconds)),
    ...[turn("embedded", "lz4", 16), turn("embedded", "brotli", 40)],
    ...[turn("kafka", "none", 50), turn("kafka", "brotli", 25)],
  ];
  const costs = CODECS.map((codec, at) => ({
    ...{ codec, bytesRatio: 1 + at, packMicrosecondsPerEvent: at, unpackMicrosecondsPerEvent: at / 2 },
  }));
  return logReport({ turns, events: 1_000_000, rounds: 3, costs });
}

function look() {
  const run = (group: Looked["group"], name: string, status: number, seconds: number): Looked => ({
    ...{ group, name, status, seconds, firstByteSeconds: seconds / 2, bytes: seconds * 1e6 },
    usage: usageOf({ clickhouse: seconds * 2 }),
  });
  const turn = (seconds: number, status = 200) => [
    run("answers", "stats", status, seconds),
    run("bare", "uniq", 200, seconds / 10),
  ];
  return lookReport({
    stored: { events: 5_000_000, addresses: 750_000 },
    storing: { seconds: 100, usage: usageOf({}) },
    tables: [{ table: "events", rows: 5_100_000, bytes: 400_000_000 }],
    looked: [...turn(1), ...turn(20, 503), ...turn(2)],
  });
}

function management() {
  const run = (ms: number, answers: Record<string, number>) => ({
    latenciesMs: Float64Array.from({ length: 100 }, (_, index) => (index < 98 ? ms : ms * 10)),
    answers: new Map(Object.entries(answers)),
    seconds: 20,
    usage: all(ms),
    machineCpuSeconds: ms * 3 + 3,
  });
  const rounds = [4, 30, 5].map((ms) => ({
    ours: run(ms, { 200: 90, "wrong: 503 for 200": 1, 201: 9 }),
    http: run(2, { 200: 100 }),
    select: run(1, { row: 100 }),
  }));
  return managementReport(rounds, { rate: 5, seconds: 20 });
}

const sample = (phase: MemoryPhase, megabytes: number, seconds = 0) => ({
  ...{ seconds, phase },
  residentBytes: { service: megabytes * 1_000_000, clickhouse: 2_000_000, postgres: 3_000_000 },
  anonymousBytes: { service: 1_000_000, clickhouse: 0, postgres: 0 },
});

function memory() {
  const samples = [
    ...[900, 300].map((each) => sample("before", each)),
    ...[400, 410, 420, 500, 600, 510].map((each) => sample("import", each)),
    ...[450, 350].map((each) => sample("after", each)),
  ];
  return memoryReport({ bytes: 2_000_000_000, events: 8_000_000, samples });
}

function small() {
  const msToAnswer = Float64Array.from({ length: 100 }, () => 20);
  const msToDone = Float64Array.from({ length: 100 }, (_, index) => 10 * (index + 1));
  return smallReport({ seconds: 4, msToAnswer, msToDone, usage: all(2) }, { linesEach: 100 });
}

function webhooks() {
  const round = (oursSeconds: number) => ({ deliveries: 1_000, oursSeconds, again: 1, peerSeconds: 1 });
  return webhooksReport([1, 2, 4].map(round));
}

const IMPORTED = {
  ...{ seconds_to_answer: 5, seconds_to_done: 10, inserts: 10, events_per_second: 50_000, ratio: 1.2 },
  peer: { name: "clickhouse-jsoneachrow", seconds: 12, events_per_second: 41_667 },
  memory: { service: { resident_max_bytes: 200_000_000 } },
  cpu_seconds_per_million: {
    ...{ service: 20, main_thread: 5, enrichment_threads: 10, other_threads: 5 },
    ...{ clickhouse: 20, postgres: 20, client: 20 },
  },
};

test.each([
  [
    "cluster",
    cluster(),
    {
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
    },
  ],
  [
    "fair",
    fair(),
    {
      alone: { imports: 3, ms_to_enriched: { p50: 125, max: 150 }, ms_to_done: { p50: 250, max: 300 } },
      beside: {
        imports: 3,
        ms_to_enriched: { p50: 550, max: 1_250 },
        ms_to_done: { p50: 1_100, max: 2_500 },
      },
      large: { events: 3_000_000, seconds: 60, cpu_seconds: { main_thread: 10, clickhouse: 30 } },
    },
  ],
  [
    "funnel",
    funnel(),
    {
      all_new: { seconds: 24, resident_peak_bytes: 300 * 2 ** 20 },
      no_news: { seconds: 12 },
      peers: { clickhouse_sum: { seconds: 2 } },
      ratio: 6,
    },
  ],
  [
    "growth",
    growth(),
    {
      cost_ratio: 1.5,
      steps: [
        {
          stored: 1_000_000,
          seconds_to_done: 25,
          cpu_seconds: { main_thread: 4, clickhouse: 5 },
          cpu_seconds_until_merged: { clickhouse: 10 },
          active_parts: { before: { events: 4, all_tables: 30 }, at_done: { events: 11, all_tables: 90 } },
        },
        { stored: 20_000_000 },
        { stored: 21_000_000 },
      ],
      new_installation: [{ stored: 1_000_000, cpu_seconds: { clickhouse: 16 } }, { stored: 2_000_000 }],
    },
  ],
  [
    "import",
    imports(500_000),
    {
      events: 500_000,
      rounds: 3,
      variants: [
        { ...IMPORTED, overrides_percent: 10, packages: 1, addresses: 30_000 },
        { ...IMPORTED, overrides_percent: 100, packages: 50, addresses: 30_000 },
        { overrides_percent: 10, packages: 1, addresses: 3_000_000, seconds_to_done: 16 },
      ],
      addresses: [{ overrides_percent: 10, packages: 1, many: 3_000_000, few: 30_000, ratio: 0.625 }],
    },
  ],
  [
    "log",
    log(),
    {
      ratio: 0.8,
      chosen: { embedded: "none", kafka: "lz4" },
      logs: [
        { log: "embedded", codec: "none", seconds_to_done: 10, events_per_second: 100_000 },
        { log: "kafka", codec: "none", events_per_second: 20_000 },
        { log: "embedded", codec: "lz4" },
        ...[
          {
            log: "kafka",
            codec: "lz4",
            seconds_to_answer: 6.25,
            seconds_to_done: 12.5,
            events_per_second: 80_000,
          },
        ],
        { log: "embedded", codec: "brotli" },
        { log: "kafka", codec: "brotli" },
      ],
    },
  ],
  [
    "look",
    look(),
    {
      ...{ events: 5_000_000, addresses: 750_000, storing: { seconds: 100 } },
      tables: [{ table: "events", rows: 5_100_000, bytes: 400_000_000 }],
      looked: [
        { group: "answers", name: "stats", turns: 3, failed: 1, ms: 2_000, clickhouse_cpu_ms: 4_000 },
        { group: "bare", name: "uniq", turns: 3, failed: 0, ms: 200, first_byte_ms: 100, bytes: 200_000 },
      ],
    },
  ],
  [
    "management",
    management(),
    {
      ...{ rate_per_second: 5, rounds: 3, answered_per_second: 5, ratio: 2.5 },
      latency_ms: { p50: 5, p90: 5, p99: 50, max: 50 },
      cpu_cores: { service: 0.25, postgres: 0.25, client: 0.05, others: 0.1 },
      answers: { 200: 270, 201: 27, "wrong: 503 for 200": 3 },
      peers: { http_healthz: { latency_ms: { p99: 20 } }, postgres_select: { latency_ms: { p99: 10 } } },
    },
  ],
  [
    "memory",
    memory(),
    {
      bytes: 2_000_000_000,
      events: 8_000_000,
      service: {
        ...{ idle_before_bytes: 300_000_000, resident_max_bytes: 600_000_000, idle_after_bytes: 350_000_000 },
        ...{ first_half_median_bytes: 410_000_000, second_half_median_bytes: 510_000_000 },
      },
    },
  ],
  [
    "small",
    small(),
    {
      ...{ imports: 100, lines_each: 100, imports_per_second: 25, ms_to_answer: { p50: 20 } },
      ms_to_done: { p50: 500, p90: 900, p99: 990, max: 1000 },
      cpu_ms_per_import: { service: 20, main_thread: 10, enrichment_threads: 7.5, client: 10 },
    },
  ],
  [
    "webhooks",
    webhooks(),
    {
      ...{ deliveries: 1_000, rounds: 3, deliveries_per_second: 500, delivered_again: 3, ratio: 0.5 },
      peers: { bare_posts: { deliveries_per_second: 1_000 } },
    },
  ],
])("the report of %s has medians, peaks and ratios", (_, { json }, facts) => {
  expect(json).toMatchObject(facts);
});

const LAST_STEP = "25.00 s +40,000 +20.00 s +32.00 s +37.00 s +1.00 s +125,000 +4 to 11 +30 to 90";
const IMPORT_HEAD = "1,000,000 events [(]230 MB, gzip 30 MB[)], medians of 3 rounds";

test.each<[string, { text: string }, string[]]>([
  [
    "cluster",
    cluster(),
    [
      "2x1 +6.00 s +83,333 +4.00 s +1.00 s +10.00 s +4.0 6.0 +20.00 s\n",
      "1x1 +1.00 s +50 MB/s +4.00 s +1.00 s +1.00\n",
    ],
  ],
  [
    "fair",
    fair(),
    [
      "beside large ones +3 +0.55 s +1.25 s +1.10 s +2.50 s\n",
      "3,000,000 events in 60.00 s, 50,000 per second",
    ],
  ],
  [
    "funnel",
    funnel(),
    [
      "medians and peaks of 3 rounds",
      "memory of its process +300 MiB +300 MiB",
      "6.0 times as long as adding up alone",
    ],
  ],
  [
    "growth",
    growth(),
    [
      `20,000,000 +${LAST_STEP}\n`,
      "new installation\n +1,000,000 .* 16.00 s +21.00 s ",
      "CPU of the last step over the new installation's, measured in turns: 1.50",
    ],
  ],
  [
    "import",
    imports(1_000_000),
    [
      `import, 10 % overrides, 1 package, 30,000 addresses: ${IMPORT_HEAD}`,
      "import, 100 % overrides, 50 packages, 30,000 addresses: ",
      "3,000,000 addresses at 0.63 of the speed of 30,000 [(]10 % overrides, 1 package[)]",
      "time to done +10.00 s +12.00 s\n",
      "events per second +100,000 +83,333\n",
      "rows of an insert +100,000\n",
      "ratio +1.20 +1\n",
      "enrichment threads +5.00 s +6.00 s\n",
      "sender +10.00 s +12.00 s\n",
      "clickhouse +1 MB +200 MB +2 MB +900 MB\n",
    ],
  ],
  [
    "log",
    log(),
    [
      "1,000,000 events, medians of 3 rounds",
      "kafka +[*] lz4 +6.25 s +12.50 s +80,000 +3.00 s +3.00 s +0.50 s\n",
      "kafka +brotli +12.50 s +25.00 s +40,000 ",
      "brotli +1/3.0 +2.00 µs/event +1.00 µs/event\n",
      "Kafka over the embedded log: 0.80\n",
    ],
  ],
  [
    "look",
    look(),
    [
      "5,000,000 events, 20 packages, 90 days, 750,000 addresses, medians of 3 turns",
      "stats +2,000 ms +1,000 ms +2,000 kB +4,000 ms +1 of 3 failed\n",
      "uniq +200 ms +100 ms +200 kB +400 ms\n",
      "events +5,100,000 +400 MB\n",
      "Stored in 100.00 s",
    ],
  ],
  [
    "management",
    management(),
    [
      "5 requests/s for 20 s",
      "\n {2}p99 +50.0 ms +20.0 ms +10.0 ms\n",
      "200: 270, 201: 27, wrong: 503 for 200: 3",
    ],
  ],
  ["memory", memory(), ["idle before 300 MB, largest 600 MB"]],
  [
    "small",
    small(),
    ["time to done +0.50 s +0.90 s +0.99 s +1.00 s\n", "25.0 imports per second", "main thread +10.00 ms\n"],
  ],
  ["webhooks", webhooks(), ["medians of 3 rounds", "deliveries per second +500 +1000"]],
])("the table of %s gives every number a unit or a name", (_, { text }, lines) => {
  for (const line of lines) expect(text).toMatch(new RegExp(line.replaceAll(/[.](?![*])/g, "[.]")));
});

test("shows a long import in a few rows, and all samples in the JSON", () => {
  const samples = Array.from({ length: 400 }, (_, second) =>
    sample(second < 10 ? "before" : second < 390 ? "import" : "after", 300, second),
  );
  const { text, json } = memoryReport({ bytes: 1, events: 1, samples });
  expect(text.split("\n").filter((line) => /^ +\d+ +import /.test(line))).toHaveLength(19);
  expect((json as { samples: unknown[] }).samples).toHaveLength(400);
});

describe("a median", () => {
  test.each([
    [[3], 3],
    [[1, 2], 1.5],
    [[9, 1, 5], 5],
    [[10, 9, 1, 2], 5.5],
  ])("is the middle of %j", (values, middle) => {
    expect(median(values)).toBe(middle);
  });

  test("throws for an empty list", () => {
    expect(() => median([])).toThrow("no median");
  });
});
