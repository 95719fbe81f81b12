import { expect, test } from "vitest";
import { sendAtRate, type Clock } from "../../../bench/common/send-at-rate.js";

/** A clock that goes on by `stepMs` whenever somebody waits for a moment. */
function clockOf(stepMs: number): Clock {
  let nowMs = 1_000;
  return {
    now: () => nowMs,
    async pause() {
      // A sender looks at the clock as soon as it is answered.
      for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
      nowMs += stepMs;
    },
  };
}

const RATE = { perSecond: 100, seconds: 1 };

test("sends each request at its due time, without waiting for earlier answers", async () => {
  const clock = clockOf(5);
  const sentMs: number[] = [];
  let letGo = () => undefined as void;
  const never = new Promise<void>((resolve) => (letGo = resolve));
  const send = async (index: number) => {
    sentMs.push(clock.now());
    if (index === 99) letGo();
    await never;
    return "200";
  };
  expect((await sendAtRate(RATE, send, clock)).answers).toEqual(new Map([["200", 100]]));
  expect(sentMs).toEqual(Array.from({ length: 100 }, (_, index) => 1_000 + index * 10));
});

test("measures from the due time, not from the send", async () => {
  const { latenciesMs } = await sendAtRate(RATE, async () => "200", clockOf(50));
  expect([...latenciesMs.slice(0, 11)]).toEqual([0, 40, 30, 20, 10, 0, 40, 30, 20, 10, 0]);
});
