import { expect, test } from "vitest";
import { gatherRecords } from "../../../../../deploy/stores/embedded/event-log/event-log-consume.js";

const GATHER = { quietMs: 25, mostMs: 200 };

const valueOf = (value: () => number) => ({
  get value() {
    return value();
  },
  untilRisen: () => Promise.reject(new Error("only an idle consumer waits for it")),
});

/** Gathers while `waiting` answers by the clock; answers how long that took. */
async function gatherBy(
  waiting: (ms: number) => number,
  {
    signal = new AbortController().signal,
    arriving,
  }: { signal?: AbortSignal; arriving?: (ms: number) => number } = {},
) {
  let clock = 0;
  const gather = { ...GATHER, ...(arriving && { arriving: valueOf(() => arriving(clock)) }) };
  await gatherRecords(gather, {
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
  expect(await gatherBy(() => 1, { signal: AbortSignal.abort() })).toBe(0);
});

test("begins soon after the last record that was known to arrive, however far apart they come", async () => {
  const waiting = (ms: number) => (ms < 60 ? 1 : 2);
  expect(await gatherBy(waiting, { arriving: (ms) => (ms < 60 ? 1 : 0) })).toBe(65);
});

test("does not wait for ever for a record that arrives and does not come", async () => {
  expect(await gatherBy(() => 1, { arriving: () => 1 })).toBe(200);
});

test("waits for nothing where nothing waits, whatever arrives", async () => {
  expect(await gatherBy(() => 0, { arriving: () => 1 })).toBe(0);
});
