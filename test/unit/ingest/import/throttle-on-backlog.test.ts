import { expect, test } from "vitest";
import { throttleOnBacklog } from "../../../../ingest/import/throttle-imports.js";

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
