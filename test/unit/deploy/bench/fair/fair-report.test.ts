import { expect, test } from "vitest";
import { fairReport } from "../../../../../deploy/bench/fair/fair-report.js";

const run = { alone: [300, 200, 250], beside: [900, 2_500, 1_100], largeLines: 3_000_000, largeSeconds: 60 };

test("compares small imports alone and beside large ones", () => {
  const { text, json } = fairReport(run);
  expect(json).toEqual({
    alone: { imports: 3, ms_to_done: { p50: 250, max: 300 } },
    beside: { imports: 3, ms_to_done: { p50: 1_100, max: 2_500 } },
    large: { events: 3_000_000, seconds: 60 },
  });
  expect(text).toMatch(/beside large ones +3 +1\.10 s +2\.50 s\n/);
  expect(text).toContain("3,000,000 events in 60.00 s, 50,000 per second");
});
