import { expect, test } from "vitest";
import { fairReport } from "../../../bench/fair/fair-report.js";
import { usageOf } from "../../../bench/usage/given-usage.js";

const times = (doneMs: number) => ({ enrichedMs: doneMs / 2, doneMs });
const threads = { main: 10, enrichment: 15, other: 5 };
const usage = usageOf({ service: 30, clickhouse: 30, postgres: 30, client: 1, threads });
const run = {
  alone: [300, 200, 250].map(times),
  beside: [900, 2_500, 1_100].map(times),
  largeLines: 3_000_000,
  largeSeconds: 60,
  usage,
};

test("compares small imports alone and beside large ones", () => {
  const { text, json } = fairReport(run);
  expect(json).toMatchObject({
    alone: { imports: 3, ms_to_enriched: { p50: 125, max: 150 }, ms_to_done: { p50: 250, max: 300 } },
    beside: { imports: 3, ms_to_enriched: { p50: 550, max: 1_250 }, ms_to_done: { p50: 1_100, max: 2_500 } },
    large: { events: 3_000_000, seconds: 60, cpu_seconds: { main_thread: 10, clickhouse: 30 } },
  });
  expect(text).toMatch(/beside large ones +3 +0\.55 s +1\.25 s +1\.10 s +2\.50 s\n/);
  expect(text).toContain("3,000,000 events in 60.00 s, 50,000 per second");
});
