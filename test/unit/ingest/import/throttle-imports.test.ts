import { expect, test } from "vitest";
import { awaitRoom, throttleOnLag, throttleOnBacklog } from "../../../../ingest/import/throttle-imports.js";

test.each([
  { others: "are idle", pausesMs: [1], pauses: 1 },
  { others: "have little to do", pausesMs: [3], pauses: 1 },
  { others: "are busy for two turns", pausesMs: [5, 9, 1], pauses: 3 },
  { others: "never stop", pausesMs: Array<number>(100).fill(5), pauses: 10 },
  { others: "take one long turn", pausesMs: [400, 400], pauses: 1 },
])("waits where other requests $others", async ({ pausesMs, pauses }) => {
  let clock = 0;
  let made = 0;
  await throttleOnLag({
    now: () => clock,
    pause: async () => {
      clock += pausesMs[made++] ?? 1;
    },
  });
  expect(made).toBe(pauses);
});

test.each([
  { busy: [true, true, false], pauses: 3 },
  { busy: Array<boolean>(100).fill(true), pauses: 50 },
])("waits while another thread is busy, for 50 ms at most", async ({ busy, pauses }) => {
  let clock = 0;
  await throttleOnLag({
    now: () => clock,
    pause: async () => {
      clock++;
    },
    isOtherBusy: () => busy.shift() ?? false,
  });
  expect(clock).toBe(pauses);
});

test.each([
  { backlog: "is empty", waiting: [0], waitedMs: 0 },
  { backlog: "is one batch", waiting: [8], waitedMs: 0 },
  { backlog: "is worked off", waiting: [30, 20, 9, 8], waitedMs: 60 },
  { backlog: "stays", waiting: Array<number>(100).fill(30), waitedMs: 260 },
])("waits $waitedMs ms where the backlog $backlog", async ({ waiting, waitedMs }) => {
  let clock = 0;
  await throttleOnBacklog({
    waiting: () => waiting.shift() ?? 0,
    now: () => clock,
    pause: async (ms) => {
      clock += ms;
    },
  });
  expect(clock).toBe(waitedMs);
});

test("does not wait for a log that cannot be read, nor fail the import", async () => {
  const waiting = () => {
    throw new Error("MDB_PANIC");
  };
  await expect(throttleOnBacklog({ waiting })).resolves.toBeUndefined();
});

const room = { bytesMax: 4 * 2 ** 30, signal: new AbortController().signal };

test.each([
  { waits: "not at the bound", unconsumed: [room.bytesMax], waitedMs: 0 },
  { waits: "until enough was enriched", unconsumed: [5e9, 5e9, 4e9], waitedMs: 200 },
])("an owner with lines that wait for enrichment waits $waits", async ({ unconsumed, waitedMs }) => {
  let clock = 0;
  const wait = async (ms: number) => void (clock += ms);
  await awaitRoom({
    ...room,
    unconsumed: async () => unconsumed.shift() ?? 0,
    now: () => clock,
    pause: wait,
  });
  expect(clock).toBe(waitedMs);
});

test("refuses an upload after two minutes without room, and says for how long", async () => {
  let clock = 0;
  const wait = async (ms: number) => void (clock += ms);
  const waiting = awaitRoom({ ...room, unconsumed: async () => 5e9, now: () => clock, pause: wait });
  await expect(waiting).rejects.toMatchObject({
    code: "unavailable",
    message: "More than 4 GiB of this owner's imports are waiting for enrichment. Try again later.",
    retryAfterSeconds: 60,
  });
  expect(clock).toBe(120_000);
});

test("stops to wait for room when the import is aborted", async () => {
  const controller = new AbortController();
  const waiting = awaitRoom({ ...room, signal: controller.signal, unconsumed: async () => 5e9 });
  controller.abort(new Error("aborted"));
  await expect(waiting).rejects.toThrow("aborted");
});
