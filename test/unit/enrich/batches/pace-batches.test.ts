import { expect, test } from "vitest";
import { openPace } from "../../../../enrich/batches/pace-batches.js";

const MIB = 1024 * 1024;

/** The size after many batches of a machine that writes so many MiB a second, beside a fixed price of each batch. */
function settledAt(mibPerSecond: number, { fixedMs = 150, available = Infinity } = {}): number {
  const pace = openPace();
  for (let batch = 0; batch < 40; batch++) {
    const bytes = Math.min(pace.bytesMax, available);
    pace.onWritten({ bytes, durationMs: fixedMs + (bytes / MIB / mibPerSecond) * 1000 });
  }
  return pace.bytesMax / MIB;
}

test.each([
  ["a fast machine gets the largest batches", 100, 16, 16],
  ["a usual one batches of about a second", 6, 5, 8],
  ["a slow one small batches, but no tiny ones", 0.5, 1, 1],
])("%s", (_, mibPerSecond, least, most) => {
  const size = settledAt(mibPerSecond);
  expect(size).toBeGreaterThanOrEqual(least);
  expect(size).toBeLessThanOrEqual(most);
});

test("batches that were small for want of records make the next ones no smaller", () => {
  expect(settledAt(20, { available: 2_000 })).toBeGreaterThanOrEqual(4);
});

test("one slow batch makes the next one smaller, and quick ones make it large again", () => {
  const pace = openPace();
  pace.onWritten({ bytes: 4 * MIB, durationMs: 9_000 });
  expect(pace.bytesMax).toBe(MIB);
  for (let batch = 0; batch < 5; batch++) pace.onWritten({ bytes: pace.bytesMax, durationMs: 50 });
  expect(pace.bytesMax).toBe(16 * MIB);
});
