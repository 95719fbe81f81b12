import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { whenIdle } from "../../../../schemas/async/when-idle.js";

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
