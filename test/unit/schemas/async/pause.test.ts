import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { pause } from "../../../../schemas/async/pause.js";

test("ends with the signal, also one that came before, and leaves no listener on it", async () => {
  const stop = new AbortController();
  const paused = pause(60_000, { signal: stop.signal });
  stop.abort();
  await paused;
  await pause(60_000, { signal: stop.signal });
  expect(getEventListeners(stop.signal, "abort")).toEqual([]);
});

test("ends after its time where no signal is given", async () => {
  expect(await pause(1)).toBeUndefined();
});
