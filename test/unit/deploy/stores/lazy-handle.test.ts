import { describe, expect, test } from "vitest";
import { lazyHandle } from "../../../../deploy/stores/open-stores.js";

/** Counts openings, of which the first ones fail, and what was closed. */
function opening({ failures = 0 } = {}) {
  const counts = { opened: 0, closed: 0 };
  const later = lazyHandle(async () => {
    if (counts.opened++ < failures) throw new Error("unreachable");
    return { [Symbol.asyncDispose]: async () => void counts.closed++ };
  });
  return { counts, later };
}

describe("a lazy handle", () => {
  test("is opened once, by the first who asks, and closed with what opens it", async () => {
    const { counts, later } = opening();
    expect(counts).toEqual({ opened: 0, closed: 0 });
    const [one, other] = await Promise.all([later.get(), later.get()]);
    expect(one).toBe(other);
    await later[Symbol.asyncDispose]();
    expect(counts).toEqual({ opened: 1, closed: 1 });
  });

  test("is tried again by the next who asks, when it failed", async () => {
    const { counts, later } = opening({ failures: 1 });
    await expect(later.get()).rejects.toThrow("unreachable");
    await later.get();
    expect(counts.opened).toBe(2);
  });

  test("is closed when it comes after the end, which did not wait for it", async () => {
    const { counts, later } = opening();
    const asked = later.get();
    await later[Symbol.asyncDispose]();
    await expect(asked).rejects.toThrow("closed before");
    expect(counts).toEqual({ opened: 1, closed: 1 });
  });

  test("is nothing to close when nobody asked", async () => {
    const { counts, later } = opening();
    await later[Symbol.asyncDispose]();
    expect(counts).toEqual({ opened: 0, closed: 0 });
  });
});
