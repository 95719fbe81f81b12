import { expect, test, vi, afterEach, describe } from "vitest";
import { countArrival, receiptClock } from "../../../../ingest/import/active-uploads.js";
import { SharedCount } from "../../../../schemas/async/wake-up.js";

test("an import arrives once, whether it ends by its lines, by its disposal or by both", () => {
  const arriving = new SharedCount();
  {
    using first = countArrival(arriving);
    using _second = countArrival(arriving);
    expect(arriving.value).toBe(2);
    first.end();
    expect(arriving.value).toBe(1);
  }
  expect(arriving.value).toBe(0);
});

test("a slow sender is not expected for ever", () => {
  vi.useFakeTimers();
  const arriving = new SharedCount();
  using arrival = countArrival(arriving, 200);
  vi.advanceTimersByTime(199);
  expect(arriving.value).toBe(1);
  vi.advanceTimersByTime(1);
  expect(arriving.value).toBe(0);
  arrival.end();
  expect(arriving.value).toBe(0);
  vi.useRealTimers();
});

afterEach(() => void vi.useRealTimers());

describe("receiptClock", () => {
  test("begins at the first stamp and goes on with the time that passes", () => {
    let elapsed = 500.9;
    const now = receiptClock(1_000, () => elapsed);
    expect(now()).toBe(1_000);
    elapsed += 7.5;
    expect(now()).toBe(1_007);
  });

  test("does not follow the clock of the process", () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const now = receiptClock(1_000, () => 3);
    vi.setSystemTime(0);
    expect(now()).toBe(1_000);
  });
});
