import { afterEach, describe, expect, test, vi } from "vitest";
import { receiptClock } from "../../../../ingest/import/active-uploads.js";

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
