import { describe, expect, test } from "vitest";
import { WakeUp, SharedCount } from "../../../../schemas/async/wake-up.js";

describe("a wake-up", () => {
  const HOUR_MS = 3_600_000;
  const never = new AbortController().signal;

  test("ends the pause under way", async () => {
    const wakeUp = new WakeUp();
    const pausing = wakeUp.pause(HOUR_MS, { signal: never });
    wakeUp.ring();
    await expect(pausing).resolves.toBeUndefined();
  });

  test("ends the next pause at once, and only that one, when nothing pauses", async () => {
    const wakeUp = new WakeUp();
    wakeUp.ring();
    wakeUp.ring();
    await wakeUp.pause(HOUR_MS, { signal: never });
    const stop = new AbortController();
    let isOver = false;
    const pausing = wakeUp.pause(HOUR_MS, stop).then(() => (isOver = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isOver).toBe(false);
    stop.abort();
    await pausing;
  });

  test("does not pause once its signal is aborted", async () => {
    await expect(new WakeUp().pause(HOUR_MS, { signal: AbortSignal.abort() })).resolves.toBeUndefined();
  });

  test("ends by itself", async () => {
    await expect(new WakeUp().pause(1, { signal: never })).resolves.toBeUndefined();
  });
});

describe("a shared count", () => {
  const running = new AbortController().signal;

  test("is one count for all that share its memory", () => {
    const here = new SharedCount();
    const there = new SharedCount(here.memory);
    here.add(2);
    there.add(-1);
    expect([here.value, there.value]).toEqual([1, 1]);
  });

  test("tells the others when it rises from zero", async () => {
    const here = new SharedCount();
    const there = new SharedCount(here.memory);
    const told = there.untilRisen(3_600_000, { signal: running });
    here.add(1);
    await told;
  });

  test("waits no longer than asked, whether it is zero or not", async () => {
    const count = new SharedCount();
    await count.untilRisen(1, { signal: running });
    count.add(1);
    await count.untilRisen(1, { signal: running });
  });

  test.each([0, 1])("waits no more when the signal aborts (count %d)", async (value) => {
    const count = new SharedCount();
    count.add(value);
    const stop = new AbortController();
    const waiting = count.untilRisen(3_600_000, { signal: stop.signal });
    stop.abort();
    await waiting;
  });
});
