import { expect, test } from "vitest";
import { growthReport, type GrowthRun, type GrowthStep } from "../../../bench/growth/growth-report.js";
import { usageOf } from "../../../bench/usage/given-usage.js";

const threads = { main: 4, enrichment: 15, other: 1 };
const usage = (clickhouse: number) => usageOf({ service: 20, clickhouse, postgres: 1, client: 2, threads });

const step = (stored: number, clickhouseSeconds: number): GrowthStep => ({
  stored,
  secondsToDone: 25,
  inserts: 8,
  usage: usage(clickhouseSeconds - 5),
  usageUntilMerged: usage(clickhouseSeconds),
  partsBefore: { events: 4, allTables: 30 },
  partsAtDone: { events: 11, allTables: 90 },
});
const RUN: GrowthRun = {
  before: [step(1_000_000, 10)],
  last: [step(20_000_000, 37), step(21_000_000, 41)],
  peer: [step(1_000_000, 21), step(2_000_000, 17)],
};

test("compares the CPU of the last step with that of a new installation, merges and every round included", () => {
  expect(growthReport(RUN, { events: 1_000_000 }).json).toMatchObject({
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
  });
});

test("shows each step with its cost and its parts", () => {
  const { text } = growthReport(RUN, { events: 1_000_000 });
  expect(text).toMatch(
    /20,000,000 +25\.00 s +40,000 +20\.00 s +32\.00 s +37\.00 s +1\.00 s +125,000 +4 to 11 +30 to 90\n/,
  );
  expect(text).toMatch(/new installation\n +1,000,000 .* 16\.00 s +21\.00 s /);
  expect(text).toContain("CPU of the last step over the new installation's, measured in turns: 1.50");
});
