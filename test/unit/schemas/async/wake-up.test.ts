import { expect, test } from "vitest";
import { WakeUp } from "../../../../schemas/async/wake-up.js";

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
