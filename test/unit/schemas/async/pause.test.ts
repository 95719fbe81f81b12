import { getEventListeners } from "node:events";
import { describe, expect, test, afterEach, beforeEach, vi } from "vitest";
import { pause, untilAborted, whenIdle } from "../../../../schemas/async/pause.js";

describe("a pause", () => {
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
});

describe("work that may not end with its signal", () => {
  const over = new Error("over");

  test("settles as the work does", async () => {
    const { signal } = new AbortController();
    expect(await untilAborted(Promise.resolve("done"), signal)).toBe("done");
    await expect(untilAborted(Promise.reject(new Error("failed")), signal)).rejects.toThrow("failed");
  });

  test("rejects when the signal comes first", async () => {
    const ending = new AbortController();
    const ended = untilAborted(new Promise(() => undefined), ending.signal);
    ending.abort(over);
    await expect(ended).rejects.toBe(over);
  });

  test("leaves no rejection to nobody where the signal came before the work failed", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    await expect(untilAborted(Promise.reject(new Error("failed")), AbortSignal.abort(over))).rejects.toBe(
      over,
    );
    await new Promise(setImmediate);
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });
});

describe("the watch for idleness", () => {
  const onIdle = vi.fn();
  let idle: ReturnType<typeof whenIdle>;

  beforeEach(() => {
    vi.useFakeTimers();
    onIdle.mockReset();
    idle = whenIdle(100, onIdle);
  });
  afterEach(() => void vi.useRealTimers());

  const lasting = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  const callsAfter = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms);
    return onIdle.mock.calls.length;
  };

  test("tells once after the last of several pieces of work", async () => {
    void idle.during(lasting(50));
    void idle.during(lasting(300));
    expect(await callsAfter(390)).toBe(0);
    expect(await callsAfter(1_000)).toBe(1);
  });

  test("begins to wait anew when work comes in between", async () => {
    for (const _ of [1, 2]) {
      void idle.during(lasting(10));
      expect(await callsAfter(90)).toBe(0);
    }
    expect(await callsAfter(100)).toBe(1);
  });

  test("passes on what work throws, and is told of as any other work", async () => {
    await expect(idle.during(Promise.reject(new Error("failed")))).rejects.toThrow("failed");
    expect(await callsAfter(200)).toBe(1);
  });

  test("tells nothing once it is disposed of", async () => {
    await idle.during(Promise.resolve());
    idle[Symbol.dispose]();
    expect(await callsAfter(1_000)).toBe(0);
  });
});
