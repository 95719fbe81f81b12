import { expect, test } from "vitest";
import { ImportPauses } from "../../../../aggregate/settlement/import-pauses.js";

function pausesAt(start: number) {
  const clock = { ms: start };
  return { clock, pauses: new ImportPauses(() => clock.ms) };
}

test("an import waits half a minute before its first settlement", () => {
  const { clock, pauses } = pausesAt(1_000);
  expect(pauses.isPaused("a")).toBe(true);
  clock.ms += 29_999;
  expect(pauses.isPaused("a")).toBe(true);
  clock.ms += 1;
  expect(pauses.isPaused("a")).toBe(false);
});

test.each([
  [0, 30_000],
  [7_500, 30_000],
  [20_000, 80_000],
])("after a settlement of %i ms it waits %i ms", (durationMs, pauseMs) => {
  const { clock, pauses } = pausesAt(0);
  pauses.startAfterSettlement("a", durationMs);
  clock.ms += pauseMs - 1;
  expect(pauses.isPaused("a")).toBe(true);
  clock.ms += 1;
  expect(pauses.isPaused("a")).toBe(false);
});

test("forgets imports that another process has finished, and none that may go on", () => {
  const { clock, pauses } = pausesAt(0);
  pauses.isPaused("elsewhere");
  clock.ms += 300_000;
  pauses.isPaused("here");
  pauses.forgetEnded();
  expect(pauses.size).toBe(2);
  clock.ms += 330_000;
  pauses.forgetEnded();
  expect(pauses.size).toBe(1);
  expect(pauses.isPaused("here")).toBe(false);
});
