import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Undrained, waitUntilDrained } from "../../../../deploy/commands/admin-drain.js";

const NONE: Undrained = { records: 0, appended: 10, imports: [], batches: 0 };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** What is left at each second, the last for ever after. Answers how it ended, after how many seconds, and the notes. */
async function drain(states: readonly Undrained[], timeoutSeconds = 60) {
  const notes: string[] = [];
  const begun = performance.now();
  const read = async () =>
    states[Math.min(Math.round((performance.now() - begun) / 1_000), states.length - 1)];
  const ended = waitUntilDrained(read as () => Promise<Undrained>, {
    timeoutMs: timeoutSeconds * 1_000,
    note: (line) => notes.push(line),
  }).then(
    () => "drained",
    (error: Error) => error.message,
  );
  const seconds = ended.then(() => Math.round((performance.now() - begun) / 1_000));
  await vi.advanceTimersByTimeAsync((timeoutSeconds + 1) * 1_000);
  return { ended: await ended, seconds: await seconds, notes };
}

test("ends once nothing was left for six seconds, and says on the way what is", async () => {
  const left: Undrained[] = [
    { ...NONE, records: 2, imports: ["one"], batches: 0 },
    { ...NONE, records: 1, imports: ["one"], batches: 1 },
    { ...NONE, records: 1, imports: ["one"], batches: 1 },
  ];
  expect(await drain([...left, NONE])).toEqual({
    ended: "drained",
    seconds: 8,
    notes: [
      "2 records are waiting in the event log, 1 import is not done.",
      "1 record is waiting in the event log, 1 import is not done, 1 settlement batch is not applied.",
      "Nothing is left; checking for new records.",
    ],
  });
});

test("does not end while records come, though each is read at once", async () => {
  const live = Array.from({ length: 40 }, (_, second) => ({
    ...NONE,
    appended: 10 + Math.floor(second / 3),
  }));
  const { ended, seconds, notes } = await drain(live, 20);
  expect([ended, seconds]).toEqual([expect.stringMatching(/^After 20 s, nothing is left, but records/), 20]);
  expect(notes.join("\n")).toContain(
    "1 new record arrived: a process with the role api or collect still accepts requests.",
  );
});

test("names some of the imports that it gave up on, and whom to stop", async () => {
  const imports = Array.from({ length: 7 }, (_, index) => `i${index}`);
  const stuck = Array.from({ length: 10 }, (_, second) => ({ ...NONE, imports, appended: second }));
  expect((await drain(stuck, 3)).ended).toBe(
    "After 3 s, 7 imports are not done (i0, i1, i2, i3, i4 and 2 more). Stop all processes with the role " +
      "api or collect first.",
  );
});
