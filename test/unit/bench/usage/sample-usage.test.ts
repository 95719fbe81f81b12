import { describe, expect, test } from "vitest";
import type { PartProcess } from "../../../bench/usage/program-parts.js";
import { UsageSamples } from "../../../bench/usage/sample-usage.js";
import { sumThreads } from "../../../bench/usage/thread-cpu.js";
import { parseBusySeconds } from "../../../bench/usage/machine-cpu.js";

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
});

/** A line of `/proc/<pid>/task/<thread>/stat` of a Linux 6.1 machine; times are ticks of 10 ms. */
const stat = (id: number, { user, kernel, nice }: { user: number; kernel: number; nice: number }) =>
  `${id} (a (b) c) S 1 1 1 0 -1 4194304 98 0 0 0 ${user} ${kernel} 900 90 20 ${nice} 11 0 284756 3133440 394`;

test("separates the main thread, the threads of a lower priority and all others", () => {
  const stats = [
    stat(7, { user: 100, kernel: 50, nice: 0 }),
    stat(8, { user: 10, kernel: 0, nice: 10 }),
    stat(9, { user: 20, kernel: 5, nice: 10 }),
    stat(10, { user: 3, kernel: 1, nice: 0 }),
  ];
  expect(sumThreads(7, stats)).toEqual({ main: 1.5, enrichment: 0.35, other: 0.04 });
});

test("counts the time of all cores without idle time and waiting for disks", () => {
  const stat = "cpu  1000 200 300 99999 88888 40 50 10 777 0\ncpu0 500 100 150 5 5 20 25 5 0 0\nintr 1 2 3\n";
  expect(parseBusySeconds(stat)).toBe(16);
});
