import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { retryWhileDown } from "../../../../enrich/batches/retry-while-down.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const quiet = { onFailure: () => undefined };

describe("retryWhileDown", () => {
  test("answers what the work answers, at once when it succeeds", async () => {
    const onFailure = vi.fn();
    expect(await retryWhileDown(async () => 7, { onFailure })).toBe(7);
    expect(onFailure).not.toHaveBeenCalled();
  });

  test("tries again until it succeeds, waiting longer each time, and tells of every failure", async () => {
    const tries: number[] = [];
    const down = new Error("connection refused");
    const work = vi.fn(() => (tries.length < 3 ? Promise.reject(down) : Promise.resolve("up")));
    const start = Date.now();
    const answer = retryWhileDown(work, {
      onFailure(error) {
        expect(error).toBe(down);
        tries.push(Date.now() - start);
      },
    });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await answer).toBe("up");
    expect(tries).toEqual([0, 100, 300]);
  });

  test("tries again after a TypeError, and gives up after twenty tries with the last failure", async () => {
    const work = vi.fn(() => Promise.reject(new TypeError(`try ${work.mock.calls.length}`)));
    const stillDown = { name: "StillDown", message: expect.stringContaining("try 20") as string };
    const answer = expect(retryWhileDown(work, quiet)).rejects.toMatchObject(stillDown);
    await vi.advanceTimersByTimeAsync(90_000);
    await answer;
    expect(work).toHaveBeenCalledTimes(20);
  });

  test("passes on at once a TypeError that no store's absence explains", async () => {
    const error = new TypeError("undefined is not a function");
    const work = vi.fn(() => Promise.reject(error));
    const retrying = { ...quiet, isDown: () => false };
    await expect(retryWhileDown(work, retrying)).rejects.toBe(error);
    expect(work).toHaveBeenCalledTimes(1);
  });

  test("gives up after one more try when it is stopped during a pause", async () => {
    const work = vi.fn(() => Promise.reject(new Error("down")));
    const stopping = new AbortController();
    const retrying = { ...quiet, signal: stopping.signal };
    const answer = expect(retryWhileDown(work, retrying)).rejects.toThrow("down");
    await vi.advanceTimersByTimeAsync(150);
    stopping.abort();
    await answer;
    expect(work).toHaveBeenCalledTimes(3);
  });

  test("tries once more when it is stopped during a pause", async () => {
    const stopping = new AbortController();
    const work = vi.fn(async () => "up").mockRejectedValueOnce(new Error("down"));
    const answer = retryWhileDown(work, { ...quiet, signal: stopping.signal });
    await vi.advanceTimersByTimeAsync(50);
    stopping.abort();
    expect(await answer).toBe("up");
    expect(work).toHaveBeenCalledTimes(2);
  });

  test("takes a failure after it was stopped as the last one", async () => {
    const stopping = new AbortController();
    const work = vi.fn(async () => {
      stopping.abort();
      throw new Error("down");
    });
    const answer = retryWhileDown(work, { ...quiet, signal: stopping.signal });
    await expect(answer).rejects.toMatchObject({ name: "StillDown" });
    expect(work).toHaveBeenCalledTimes(1);
  });
});
