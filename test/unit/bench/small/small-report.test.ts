import { expect, test } from "vitest";
import { smallReport } from "../../../bench/small/small-report.js";
import { usageOf } from "../../../bench/usage/given-usage.js";

const threads = { main: 1, enrichment: 0.75, other: 0.25 };
const usage = usageOf({ service: 2, clickhouse: 2, postgres: 2, client: 1, threads });
const run = {
  seconds: 4,
  msToAnswer: Float64Array.from({ length: 100 }, () => 20),
  msToDone: Float64Array.from({ length: 100 }, (_, index) => 10 * (index + 1)),
  usage,
};

test("has the imports per second, the percentiles, and the CPU of one import", () => {
  expect(smallReport(run, { linesEach: 100 }).json).toMatchObject({
    imports: 100,
    lines_each: 100,
    imports_per_second: 25,
    ms_to_answer: { p50: 20 },
    ms_to_done: { p50: 500, p90: 900, p99: 990, max: 1000 },
    cpu_ms_per_import: { service: 20, main_thread: 10, enrichment_threads: 7.5, client: 10 },
  });
});

test("gives every number a unit", () => {
  const { text } = smallReport(run, { linesEach: 100 });
  expect(text).toMatch(/time to done +0\.50 s +0\.90 s +0\.99 s +1\.00 s\n/);
  expect(text).toContain("25.0 imports per second");
  expect(text).toMatch(/main thread +10\.00 ms\n/);
});
