import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { retry } from "../../../../schemas/async/retry.js";
import { timersLeft } from "../../../support/timers-left.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const backoff = { firstMs: 100, maxMs: 300 };

test("waits twice as long after each failure, up to the longest pause", async () => {
  const failedAt: number[] = [];
  const startedAt = Date.now();
  const work = vi.fn(async () => (failedAt.length < 4 ? Promise.reject(new Error("down")) : "up"));
  const answer = retry(work, { backoff, onFailure: () => void failedAt.push(Date.now() - startedAt) });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await answer).toBe("up");
  expect(failedAt).toEqual([0, 100, 300, 600]);
});

test("rejects with the last failure after the last attempt", async () => {
  const work = vi.fn(() => Promise.reject(new Error(`attempt ${work.mock.calls.length}`)));
  const answer = expect(retry(work, { attempts: 3, backoff })).rejects.toThrow("attempt 3");
  await vi.advanceTimersByTimeAsync(5_000);
  await answer;
  expect(work).toHaveBeenCalledTimes(3);
});

test("rejects at once with a failure that another attempt cannot mend", async () => {
  const work = vi.fn(() => Promise.reject(new Error("refused")));
  await expect(retry(work, { backoff, isTransient: () => false })).rejects.toThrow("refused");
  expect(work).toHaveBeenCalledTimes(1);
});

test.each([new TypeError("undefined is not a function"), "no error"])(
  "tries again after %s",
  async (failure) => {
    const work = vi.fn(async () => "up").mockRejectedValueOnce(failure);
    const onFailure = vi.fn();
    const answer = retry(work, { attempts: 2, backoff, onFailure });
    await vi.advanceTimersByTimeAsync(100);
    expect(await answer).toBe("up");
    expect(onFailure.mock.calls).toEqual([[failure]]);
  },
);

test("ends a pause with the signal", async () => {
  const stop = new AbortController();
  const left = timersLeft(200);
  const work = vi.fn(() => Promise.reject(new Error("down")));
  const answer = expect(retry(work, { backoff, signal: stop.signal })).rejects.toThrow("stopped");
  await vi.advanceTimersByTimeAsync(150);
  stop.abort(new Error("stopped"));
  await answer;
  expect(work).toHaveBeenCalledTimes(2);
  expect(left()).toBe(0);
});

test("answers what an attempt brings that is under way when the signal comes", async () => {
  const stop = new AbortController();
  const work = async () => {
    stop.abort();
    return "up";
  };
  const onFailure = vi.fn();
  expect(await retry(work, { backoff, signal: stop.signal, onFailure })).toBe("up");
  expect(onFailure).not.toHaveBeenCalled();
});

test("makes one attempt under a signal that came before", async () => {
  const work = vi.fn(() => Promise.reject(new Error("down")));
  await expect(retry(work, { backoff, signal: AbortSignal.abort() })).rejects.toThrow("down");
  expect(work).toHaveBeenCalledTimes(1);
});
