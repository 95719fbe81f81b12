import { expect, test } from "vitest";
import { managementReport } from "../../../bench/management/management-report.js";
import type { ManagementRound, MeasuredRun } from "../../../bench/management/management-round.js";
import { usageOf } from "../../../bench/usage/given-usage.js";

function run(latencyMs: number, answers: Record<string, number>): MeasuredRun {
  return {
    latenciesMs: Float64Array.from({ length: 100 }, (_, index) => (index < 98 ? latencyMs : latencyMs * 10)),
    answers: new Map(Object.entries(answers)),
    seconds: 20,
    usage: usageOf({ service: latencyMs, clickhouse: latencyMs, postgres: latencyMs, client: 1 }),
    machineCpuSeconds: latencyMs * 3 + 3,
  };
}

const round = (ours: number): ManagementRound => ({
  ours: run(ours, { 200: 90, "wrong: 503 for 200": 1, 201: 9 }),
  http: run(2, { 200: 100 }),
  select: run(1, { row: 100 }),
});
const ROUNDS = [round(4), round(30), round(5)];
const OPTIONS = { rate: 5, seconds: 20 };

test("has the medians of the percentiles, those of the peers, and the ratio to HTTP alone", () => {
  expect(managementReport(ROUNDS, OPTIONS).json).toMatchObject({
    rate_per_second: 5,
    rounds: 3,
    latency_ms: { p50: 5, p90: 5, p99: 50, max: 50 },
    answered_per_second: 5,
    cpu_cores: { service: 0.25, postgres: 0.25, client: 0.05, others: 0.1 },
    answers: { 200: 270, 201: 27, "wrong: 503 for 200": 3 },
    peers: { http_healthz: { latency_ms: { p99: 20 } }, postgres_select: { latency_ms: { p99: 10 } } },
    ratio: 2.5,
  });
});

test("has a table with units", () => {
  const { text } = managementReport(ROUNDS, OPTIONS);
  expect(text).toContain("5 requests/s for 20 s");
  expect(text).toMatch(/^ {2}p99 +50\.0 ms +20\.0 ms +10\.0 ms$/m);
  expect(text).toContain("200: 270, 201: 27, wrong: 503 for 200: 3");
});
