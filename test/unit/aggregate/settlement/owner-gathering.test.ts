import { expect, test } from "vitest";
import { OwnerGathering } from "../../../../aggregate/settlement/owner-gathering.js";

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
