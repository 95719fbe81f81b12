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
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const lasting = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

  test("tells once after the last of several pieces of work", async () => {
    const onIdle = vi.fn();
    const idle = whenIdle(100, onIdle);
    void idle.during(lasting(50));
    void idle.during(lasting(300));
    await vi.advanceTimersByTimeAsync(390);
    expect(onIdle).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(onIdle).toHaveBeenCalledOnce();
  });

  test("begins to wait anew when work comes in between", async () => {
    const onIdle = vi.fn();
    const idle = whenIdle(100, onIdle);
    void idle.during(lasting(10));
    await vi.advanceTimersByTimeAsync(90);
    void idle.during(lasting(10));
    await vi.advanceTimersByTimeAsync(90);
    expect(onIdle).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(100);
    expect(onIdle).toHaveBeenCalledOnce();
  });

  test("passes on what work throws, and is told of as any other work", async () => {
    const onIdle = vi.fn();
    const idle = whenIdle(100, onIdle);
    await expect(idle.during(Promise.reject(new Error("failed")))).rejects.toThrow("failed");
    await vi.advanceTimersByTimeAsync(200);
    expect(onIdle).toHaveBeenCalledOnce();
  });

  test("tells nothing once it is disposed of", async () => {
    const onIdle = vi.fn();
    const idle = whenIdle(100, onIdle);
    await idle.during(Promise.resolve());
    idle[Symbol.dispose]();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(onIdle).not.toHaveBeenCalled();
  });
});
