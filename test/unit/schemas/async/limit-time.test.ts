import { getEventListeners } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { limitTime } from "../../../../schemas/async/limit-time.js";
import { pause } from "../../../../schemas/async/pause.js";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Rejects once its time is over; keeps nothing of the limit but a listener on its signal. */
function workUntil(durationMs: number, outer?: AbortSignal): Promise<never> {
  const { signal } = limitTime(durationMs, { outer });
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}

describe("a time limit", () => {
  test("ends work after its time, although garbage is collected meanwhile", async () => {
    const over = expect(workUntil(60, new AbortController().signal)).rejects.toThrow(
      expect.objectContaining({ name: "TimeoutError" }),
    );
    for (let round = 0; round < 5; round++) {
      await pause(5);
      collectGarbage();
    }
    await over;
  });

  test("ends work with the outer signal and its reason", async () => {
    const outer = new AbortController();
    using limit = limitTime(60_000, { outer: outer.signal });
    outer.abort(new Error("the caller left"));
    expect([limit.isOver, limit.signal.reason]).toEqual([false, new Error("the caller left")]);
  });

  test("ends at once where the outer signal came before", () => {
    using limit = limitTime(60_000, { outer: AbortSignal.abort("over") });
    expect([limit.signal.aborted, limit.signal.reason]).toEqual([true, "over"]);
  });

  test("says whether the time came first, and why in the given words", async () => {
    using limit = limitTime(1, { reason: () => new Error("too long") });
    await pause(20);
    expect([limit.isOver, limit.signal.reason]).toEqual([true, new Error("too long")]);
  });

  test("leaves neither a timer nor a listener once it is disposed of", async () => {
    const outer = new AbortController();
    const limit = limitTime(1, { outer: outer.signal });
    limit[Symbol.dispose]();
    await pause(20);
    expect([limit.isOver, getEventListeners(outer.signal, "abort")]).toEqual([false, []]);
  });
});
