import { expect, test, afterEach, beforeEach, describe, vi } from "vitest";
import {
  openPoisonDetection,
  MUTEX_BYTES,
  sharedThreadMutex,
} from "../../../../enrich/batches/poison-detection.js";
import { newState } from "../../../../enrich/batches/batch-state.js";
import { BatchLost } from "../../../../schemas/records/event-log.js";

/** Two workers of one process, of which the first has a batch under detection that it loses after `saves` saves. */
function losingWorker({ saves }: { saves: number }) {
  const memory = new SharedArrayBuffer(MUTEX_BYTES);
  const stopping = new AbortController().signal;
  let left = saves;
  const detection = openPoisonDetection({
    state: { ...newState([]), attempts: 3 },
    save: async () => {
      if (left-- === 0) throw new BatchLost("the group has moved on");
    },
    mutex: sharedThreadMutex(memory, 0),
    stopping,
  });
  return { detection, other: sharedThreadMutex(memory, 1), stopping };
}

test("a worker whose batch is lost as it records a chunk lets the others go on", async () => {
  const { detection, other, stopping } = losingWorker({ saves: 0 });
  await expect(detection.begin(0)).rejects.toThrow(BatchLost);
  await other.lock(stopping);
});

test("a worker whose batch is lost after a chunk lets the others go on", async () => {
  const { detection, other, stopping } = losingWorker({ saves: 1 });
  await detection.begin(0);
  await expect(detection.end()).rejects.toThrow(BatchLost);
  await other.lock(stopping);
});

const never = new AbortController().signal;

function mutexesOfTwo() {
  const memory = new SharedArrayBuffer(MUTEX_BYTES);
  return [sharedThreadMutex(memory, 0), sharedThreadMutex(memory, 1)] as const;
}

describe("sharedThreadMutex", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

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
