import { describe, expect, test } from "vitest";
import type { PartProcess } from "../../../bench/usage/program-parts.js";
import { UsageSamples } from "../../../bench/usage/sample-usage.js";

const sampled = (pid: number, facts: Partial<PartProcess>): PartProcess => ({
  pid,
  parentPid: 1,
  part: "service",
  cpuSeconds: 0,
  residentBytes: 0,
  anonymousBytes: 0,
  residentPeakBytes: 0,
  ...facts,
});

describe("the usage of the parts of the program", () => {
  test("counts CPU time since the first sample", () => {
    const samples = new UsageSamples([sampled(1, { cpuSeconds: 10 })]);
    samples.add([sampled(1, { cpuSeconds: 12.5 })]);
    expect(samples.usage().service.cpuSeconds).toBe(2.5);
  });

  test("counts all CPU time of later processes, and that of ended ones up to their last sample", () => {
    const part = "postgres";
    const samples = new UsageSamples([
      sampled(1, { part, cpuSeconds: 1 }),
      sampled(2, { part, cpuSeconds: 4 }),
    ]);
    samples.add([
      sampled(1, { part, cpuSeconds: 2 }),
      sampled(2, { part, cpuSeconds: 5 }),
      sampled(3, { part, cpuSeconds: 7 }),
    ]);
    samples.add([sampled(1, { part, cpuSeconds: 3 })]);
    expect(samples.usage().postgres.cpuSeconds).toBe(2 + 1 + 7);
  });

  test("takes the largest sum of one sample, not the sum of each process's peak", () => {
    const samples = new UsageSamples([sampled(1, { residentBytes: 100 }), sampled(2, { residentBytes: 10 })]);
    samples.add([sampled(1, { residentBytes: 20 }), sampled(2, { residentBytes: 70 })]);
    expect(samples.usage().service).toMatchObject({ residentBeforeBytes: 110, residentMaxBytes: 110 });
  });

  test("separates the parts", () => {
    const samples = new UsageSamples([]);
    samples.add([
      sampled(1, { residentBytes: 5, anonymousBytes: 2, residentPeakBytes: 9 }),
      sampled(2, { part: "clickhouse", residentBytes: 50, anonymousBytes: 20, residentPeakBytes: 90 }),
    ]);
    const { service, clickhouse, postgres } = samples.usage();
    expect(service).toMatchObject({ residentMaxBytes: 5, anonymousMaxBytes: 2, residentPeakBytes: 9 });
    expect(clickhouse).toMatchObject({ residentMaxBytes: 50, anonymousMaxBytes: 20, residentPeakBytes: 90 });
    expect(postgres).toMatchObject({ residentMaxBytes: 0, anonymousMaxBytes: 0, residentPeakBytes: 0 });
  });
});
