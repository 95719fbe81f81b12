import { expect, test } from "vitest";
import { median } from "../../../bench/common/median.js";
import type { Usage } from "../../../bench/usage/sample-usage.js";
import { importReport } from "../../../bench/import/import-report.js";
import type { ImportRound } from "../../../bench/import/import-round.js";

const usageOf = (megabytes: number, cpuSeconds: number): Usage => {
  const part = {
    cpuSeconds,
    residentBeforeBytes: 1_000_000,
    residentMaxBytes: megabytes * 1_000_000,
    anonymousMaxBytes: 2_000_000,
    residentPeakBytes: 900_000_000,
  };
  const threads = { main: cpuSeconds / 4, enrichment: cpuSeconds / 2, other: cpuSeconds / 4 };
  return { service: part, clickhouse: part, postgres: part, threads, client: { cpuSeconds } };
};

const round = (secondsToDone: number, peerSeconds: number): ImportRound => ({
  plainBytes: 230_000_000,
  gzipBytes: 30_000_000,
  ours: {
    secondsToAnswer: secondsToDone / 2,
    secondsToDone,
    inserts: secondsToDone,
    usage: usageOf(secondsToDone * 10, secondsToDone),
  },
  peer: { seconds: peerSeconds, usage: usageOf(300, peerSeconds) },
});

const ROUNDS = [round(8, 10), round(20, 12), round(10, 30)];
const MEASURED = [
  { variant: { overridesPercent: 10, packages: 1 }, rounds: ROUNDS },
  { variant: { overridesPercent: 100, packages: 50 }, rounds: ROUNDS },
];

test("has the medians of the times, their ratio, and the peaks of memory", () => {
  const facts = {
    seconds_to_answer: 5,
    seconds_to_done: 10,
    inserts: 10,
    events_per_second: 50_000,
    peer: { name: "clickhouse-jsoneachrow", seconds: 12, events_per_second: 41_667 },
    ratio: 1.2,
    memory: { service: { resident_max_bytes: 200_000_000 } },
    cpu_seconds_per_million: {
      service: 20,
      main_thread: 5,
      enrichment_threads: 10,
      other_threads: 5,
      clickhouse: 20,
      postgres: 20,
      client: 20,
    },
  };
  expect(importReport(MEASURED, { events: 500_000 }).json).toMatchObject({
    events: 500_000,
    rounds: 3,
    variants: [
      { ...facts, overrides_percent: 10, packages: 1 },
      { ...facts, overrides_percent: 100, packages: 50 },
    ],
  });
});

test("gives every number of the table a unit or a name", () => {
  const { text } = importReport(MEASURED, { events: 1_000_000 });
  expect(text).toContain(
    "import, 10 % overrides, 1 package: 1,000,000 events (230 MB, gzip 30 MB), medians of 3 rounds",
  );
  expect(text).toMatch(/time to done +10\.00 s +12\.00 s\n/);
  expect(text).toMatch(/events per second +100,000 +83,333\n/);
  expect(text).toMatch(/rows of an insert +100,000\n/);
  expect(text).toMatch(/ratio +1\.20 +1\n/);
  expect(text).toMatch(/enrichment threads +5\.00 s +6\.00 s\n/);
  expect(text).toMatch(/sender +10\.00 s +12\.00 s\n/);
  expect(text).toMatch(/clickhouse +1 MB +200 MB +2 MB +900 MB\n/);
  expect(text).toContain("import, 100 % overrides, 50 packages: ");
});

test.each([
  [[3], 3],
  [[1, 2], 1.5],
  [[9, 1, 5], 5],
  [[10, 9, 1, 2], 5.5],
])("takes the middle of %j", (values, middle) => {
  expect(median(values)).toBe(middle);
});

test("throws for an empty list", () => {
  expect(() => median([])).toThrow("no median");
});
