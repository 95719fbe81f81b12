import { expect, test } from "vitest";
import { sumThreads, threadCpuBetween } from "../../../bench/usage/thread-cpu.js";

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

test("compares priorities with that of the main thread, which may be lowered itself", () => {
  const stats = [stat(7, { user: 100, kernel: 0, nice: 5 }), stat(8, { user: 10, kernel: 0, nice: 5 })];
  expect(sumThreads(7, stats)).toEqual({ main: 1, enrichment: 0, other: 0.1 });
});

test("subtracts each kind", () => {
  const before = { main: 1, enrichment: 2, other: 3 };
  expect(threadCpuBetween(before, { main: 2, enrichment: 4, other: 6 })).toEqual(before);
});
