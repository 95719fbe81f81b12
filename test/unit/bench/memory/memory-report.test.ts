import { expect, test } from "vitest";
import { memoryReport } from "../../../bench/memory/memory-report.js";
import type { MemoryPhase, MemorySample } from "../../../bench/memory/record-memory.js";

const sample = (phase: MemoryPhase, megabytes: number, seconds = 0): MemorySample => ({
  seconds,
  phase,
  residentBytes: { service: megabytes * 1_000_000, clickhouse: 2_000_000, postgres: 3_000_000 },
  anonymousBytes: { service: 1_000_000, clickhouse: 0, postgres: 0 },
});

test("says what the program takes before, during and after the import, and whether it grew", () => {
  const samples = [
    ...[900, 300].map((each) => sample("before", each)),
    ...[400, 410, 420, 500, 600, 510].map((each) => sample("import", each)),
    ...[450, 350].map((each) => sample("after", each)),
  ];
  const { text, json } = memoryReport({ bytes: 2_000_000_000, events: 8_000_000, samples });
  expect(json).toMatchObject({
    bytes: 2_000_000_000,
    events: 8_000_000,
    service: {
      idle_before_bytes: 300_000_000,
      resident_max_bytes: 600_000_000,
      first_half_median_bytes: 410_000_000,
      second_half_median_bytes: 510_000_000,
      idle_after_bytes: 350_000_000,
    },
  });
  expect(text).toContain("idle before 300 MB, largest 600 MB");
});

test("shows a long import in a few rows, and all samples in the JSON", () => {
  const samples = Array.from({ length: 400 }, (_, second) =>
    sample(second < 10 ? "before" : second < 390 ? "import" : "after", 300, second),
  );
  const { text, json } = memoryReport({ bytes: 1, events: 1, samples });
  expect(text.split("\n").filter((line) => /^ +\d+ +import /.test(line))).toHaveLength(19);
  expect((json as { samples: unknown[] }).samples).toHaveLength(400);
});
