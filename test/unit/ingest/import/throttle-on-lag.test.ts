import { expect, test } from "vitest";
import { throttleOnLag } from "../../../../ingest/import/throttle-imports.js";

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
