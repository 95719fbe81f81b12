import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { MUTEX_BYTES, sharedThreadMutex } from "../../../../enrich/batches/thread-mutex.js";

const never = new AbortController().signal;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function mutexesOfTwo() {
  const memory = new SharedArrayBuffer(MUTEX_BYTES);
  return [sharedThreadMutex(memory, 0), sharedThreadMutex(memory, 1)] as const;
}

describe("sharedThreadMutex", () => {
  test("is locked by one worker at a time, and again by the one that has it", async () => {
    const [one, other] = mutexesOfTwo();
    await one.lock(never);
    await one.lock(never);
    const locked = vi.fn();
    const locking = other.lock(never).then(locked);
    other.unlock();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(locked).not.toHaveBeenCalled();
    one.unlock();
    await vi.advanceTimersByTimeAsync(100);
    expect(locked).toHaveBeenCalledOnce();
    await locking;
  });

  test("does not keep a worker waiting that has to stop", async () => {
    const [one, other] = mutexesOfTwo();
    await one.lock(never);
    const stopping = new AbortController();
    const locking = other.lock(stopping.signal);
    stopping.abort();
    await locking;
    one.unlock();
    await one.lock(never);
  });
});
