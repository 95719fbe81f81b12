import { expect, test } from "vitest";
import { sendAtRate, type Clock } from "../../../bench/common/send-at-rate.js";

/** A clock that goes on by `stepMs` whenever somebody waits for a moment. */
function clockOf(stepMs: number): Clock & { answerAfter: (ms: number) => Promise<void> } {
  let nowMs = 1_000;
  const waiting: { atMs: number; resolve: () => void }[] = [];
  return {
    now: () => nowMs,
    async pause() {
      // A sender looks at the clock as soon as it is answered.
      for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
      nowMs += stepMs;
      for (const one of waiting.filter(({ atMs }) => atMs <= nowMs)) one.resolve();
    },
    answerAfter: (ms) => new Promise((resolve) => waiting.push({ atMs: nowMs + ms, resolve })),
  };
}

const RATE = { perSecond: 100, seconds: 1 };

test("sends each request at its due time, without waiting for earlier answers", async () => {
  const clock = clockOf(5);
  const sentMs: number[] = [];
  let letGo = () => undefined as void;
  const never = new Promise<void>((resolve) => (letGo = resolve));
  const done = sendAtRate(
    RATE,
    async (index) => {
      sentMs.push(clock.now());
      if (index === 99) letGo();
      await never;
      return "200";
    },
    clock,
  );
  expect((await done).answers).toEqual(new Map([["200", 100]]));
  expect(sentMs).toEqual(Array.from({ length: 100 }, (_, index) => 1_000 + index * 10));
});

test("measures from the due time, not from the send", async () => {
  const clock = clockOf(50);
  const { latenciesMs } = await sendAtRate(RATE, async () => "200", clock);
  expect([...latenciesMs.slice(0, 11)]).toEqual([0, 40, 30, 20, 10, 0, 40, 30, 20, 10, 0]);
});

test("measures latencies and counts answers", async () => {
  const clock = clockOf(10);
  const { latenciesMs, answers } = await sendAtRate(
    { perSecond: 100, seconds: 2 },
    async (index) => {
      if (index === 0) await clock.answerAfter(500);
      return index % 4 === 0 ? "304" : "200";
    },
    clock,
  );
  expect(latenciesMs[0]).toBe(500);
  expect(Object.fromEntries(answers)).toEqual({ 200: 150, 304: 50 });
});

test("fails with the first failure, after all requests have ended", async () => {
  let answered = 0;
  const sending = sendAtRate(
    RATE,
    async (index) => {
      answered += 1;
      if (index % 50 === 20) throw new Error(`request ${index} broke`);
      return "200";
    },
    clockOf(10),
  );
  await expect(sending).rejects.toThrow("request 20 broke");
  expect(answered).toBe(100);
});
