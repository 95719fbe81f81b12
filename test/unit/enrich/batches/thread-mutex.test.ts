import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { HOLD_TURN_BYTES, sharedHoldTurn } from "../../../../enrich/batches/thread-mutex.js";

const never = new AbortController().signal;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function turnsOfTwo() {
  const memory = new SharedArrayBuffer(HOLD_TURN_BYTES);
  return [sharedHoldTurn(memory, 0), sharedHoldTurn(memory, 1)] as const;
}

describe("sharedHoldTurn", () => {
  test("gives the turn to one worker at a time, and again to the one that has it", async () => {
    const [one, other] = turnsOfTwo();
    await one.take(never);
    await one.take(never);
    const taken = vi.fn();
    const taking = other.take(never).then(taken);
    other.giveBack();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(taken).not.toHaveBeenCalled();
    one.giveBack();
    await vi.advanceTimersByTimeAsync(100);
    expect(taken).toHaveBeenCalledOnce();
    await taking;
  });

  test("does not keep a worker waiting that is told to stop", async () => {
    const [one, other] = turnsOfTwo();
    await one.take(never);
    const stopping = new AbortController();
    const taking = other.take(stopping.signal);
    stopping.abort();
    await taking;
    one.giveBack();
    await one.take(never);
  });
});
