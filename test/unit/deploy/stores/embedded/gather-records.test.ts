import { expect, test } from "vitest";
import { gatherRecords } from "../../../../../deploy/stores/embedded/event-log/gather-records.js";

const GATHER = { quietMs: 25, mostMs: 200 };

/** Gathers while `waiting` answers by the clock; answers how long that took. */
async function gatherBy(waiting: (ms: number) => number, signal = new AbortController().signal) {
  let clock = 0;
  await gatherRecords(GATHER, {
    waiting: () => waiting(clock),
    signal,
    now: () => clock,
    wait: async (ms) => void (clock += ms),
  });
  return clock;
}

test("waits for nothing where nothing waits", async () => {
  expect(await gatherBy(() => 0)).toBe(0);
});

test("begins when nothing came for a while", async () => {
  expect(await gatherBy(() => 1)).toBe(25);
  expect(await gatherBy((ms) => 1 + Math.min(4, Math.floor(ms / 10)))).toBe(75);
});

test("begins in the end, even if more comes all the time", async () => {
  expect(await gatherBy((ms) => 1 + Math.floor(ms / 10))).toBe(200);
});

test("waits for no more where many wait", async () => {
  expect(await gatherBy(() => 64)).toBe(0);
  expect(await gatherBy((ms) => 30 + ms)).toBe(50);
});

test("begins at once when consuming is to stop", async () => {
  expect(await gatherBy(() => 1, AbortSignal.abort())).toBe(0);
});
