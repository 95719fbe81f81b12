import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { readWhileSent, SenderIdle } from "../../../../ingest/import/read-while-sent.js";
import { timersLeft } from "../../../support/timers-left.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Parts after so many milliseconds each; then the end, or nothing more. */
async function* sentAfter(pauses: readonly number[], end: Promise<unknown> = Promise.resolve()) {
  for (const pause of pauses) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    yield Buffer.from("x");
  }
  await end;
}

const never = new Promise(() => undefined);

async function countParts(parts: AsyncIterable<Buffer>, each = async () => {}): Promise<number> {
  let count = 0;
  for await (const _ of parts) {
    count++;
    await each();
  }
  return count;
}

describe("readWhileSent", () => {
  test("passes on everything, however long the upload takes", async () => {
    const left = timersLeft(1_000);
    const counting = countParts(readWhileSent(sentAfter([900, 900, 900]), { idleMsMax: 1_000 }));
    await vi.advanceTimersByTimeAsync(2_700);
    expect(await counting).toBe(3);
    expect(left()).toBe(0);
  });

  test.each([
    ["before the first part", [1_001]],
    ["between parts", [10, 1_001]],
  ])("throws when the sender stands still %s", async (_, pauses) => {
    const counting = countParts(readWhileSent(sentAfter(pauses), { idleMsMax: 1000 }));
    const refused = expect(counting).rejects.toEqual(new SenderIdle(1000));
    await vi.advanceTimersByTimeAsync(1_010);
    await refused;
  });

  test("throws when the sender is idle before the end", async () => {
    const counting = countParts(readWhileSent(sentAfter([1], never), { idleMsMax: 1000 }));
    const refused = expect(counting).rejects.toThrow("no data was received for 1 s");
    await vi.advanceTimersByTimeAsync(1_001);
    await refused;
  });

  test("does not count the time of the consumer", async () => {
    const slowly = () => new Promise<void>((resolve) => setTimeout(resolve, 5_000));
    const counting = countParts(readWhileSent(sentAfter([10, 900, 900]), { idleMsMax: 1000 }), slowly);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await counting).toBe(3);
  });

  test.each([
    ["while it waits", 500],
    ["while its reader is busy", 50],
  ])("throws the reason of the signal %s", async (_, afterMs) => {
    const stop = new AbortController();
    const reader = () => new Promise<void>((resolve) => setTimeout(resolve, 100));
    const left = timersLeft(1_000);
    const parts = readWhileSent(sentAfter([10], never), { signal: stop.signal, idleMsMax: 1_000 });
    const counting = countParts(parts, reader);
    const refused = expect(counting).rejects.toThrow("told to");
    await vi.advanceTimersByTimeAsync(afterMs);
    stop.abort(new Error("told to"));
    await vi.advanceTimersByTimeAsync(200);
    await refused;
    expect(left()).toBe(0);
  });

  test("throws the error of the body", async () => {
    const broken = (async function* () {
      yield Buffer.from("x");
      throw new Error("the connection broke");
    })();
    await expect(countParts(readWhileSent(broken))).rejects.toThrow("the connection broke");
  });
});
