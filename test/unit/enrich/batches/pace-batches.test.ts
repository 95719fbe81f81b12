import { expect, test } from "vitest";
import type { Queue } from "../../../../schemas/records/event-log.js";
import { openPace } from "../../../../enrich/batches/pace-batches.js";

const MIB = 1024 * 1024;

interface Settling {
  fixedMs?: number;
  available?: number;
  queue?: Queue;
}

/** The size after many batches of a machine that writes so many MiB a second, beside a fixed price of each batch. */
function settledAt(
  mibPerSecond: number,
  { fixedMs = 150, available = Infinity, queue = "bulk" }: Settling = {},
): number {
  const pace = openPace(queue);
  for (let batch = 0; batch < 40; batch++) {
    const bytes = Math.min(pace.bytesMax, available);
    pace.onWritten({ bytes, durationMs: fixedMs + (bytes / MIB / mibPerSecond) * 1000 });
  }
  return pace.bytesMax / MIB;
}

test.each([
  ["a usual machine gets the largest batches", 6, 24, 24],
  ["a slow one batches of a few seconds", 2, 14, 16],
  ["a very slow one small batches, but no tiny ones", 0.25, 4, 4],
])("%s", (_, mibPerSecond, least, most) => {
  const size = settledAt(mibPerSecond);
  expect(size).toBeGreaterThanOrEqual(least);
  expect(size).toBeLessThanOrEqual(most);
});

test.each([100, 0.5])("express batches have the same size on a machine of %f MiB/s", (mibPerSecond) => {
  expect(settledAt(mibPerSecond, { queue: "express" })).toBe(4);
});

test("batches that were small for want of records make the next ones no smaller", () => {
  expect(settledAt(20, { available: 2_000 })).toBe(24);
});

test("one slow batch makes the next one smaller, and quick ones make it large again", () => {
  const pace = openPace("bulk");
  pace.onWritten({ bytes: 8 * MIB, durationMs: 30_000 });
  expect(pace.bytesMax).toBe(4 * MIB);
  for (let batch = 0; batch < 5; batch++) pace.onWritten({ bytes: pace.bytesMax, durationMs: 50 });
  expect(pace.bytesMax).toBe(24 * MIB);
});
