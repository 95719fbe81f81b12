import { expect, test } from "vitest";
import { ImportPauses, OwnerGathering } from "../../../../aggregate/settlement/settlement-waits.js";

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

const ADA = "01990000-0000-7000-8000-00000000ada0";
const BOB = "01990000-0000-7000-8000-00000000b0b0";
const [alone, followed] = [[{ followed: false }], [{ followed: false }, { followed: true }]];

function gatheringAt(clock: { ms: number }) {
  return new OwnerGathering(() => clock.ms);
}

test("an owner waits while other small imports are about to be written, and no longer", () => {
  const gathering = gatheringAt({ ms: 0 });
  expect(gathering.isWaiting(ADA, followed)).toBe(true);
  expect(gathering.isWaiting(ADA, alone)).toBe(false);
});

test("an import alone does not wait", () => {
  expect(gatheringAt({ ms: 0 }).isWaiting(ADA, alone)).toBe(false);
});

test("no owner waits for longer than 200 ms, however many imports follow", () => {
  const clock = { ms: 0 };
  const gathering = gatheringAt(clock);
  const waits = [0, 199, 200, 201].map((ms) => {
    clock.ms = ms;
    return gathering.isWaiting(ADA, followed);
  });
  expect(waits).toEqual([true, true, false, true]);
});

test("each owner waits for imports of its own", () => {
  const clock = { ms: 0 };
  const gathering = gatheringAt(clock);
  gathering.isWaiting(ADA, followed);
  clock.ms = 150;
  expect(gathering.isWaiting(BOB, followed)).toBe(true);
  clock.ms = 250;
  expect([ADA, BOB].map((owner) => gathering.isWaiting(owner, followed))).toEqual([false, true]);
});
