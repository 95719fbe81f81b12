import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { GenerationCache } from "../../../../enrich/lookups/generation-cache.js";

/** Room for ten entries of one byte. */
const open = () => new GenerationCache<number, string>(10, () => 1);

describe("GenerationCache", () => {
  test("answers what was set, and nothing for other keys", () => {
    const cache = open();
    cache.set(1, "one");
    cache.set(1, "uno");
    expect([cache.get(1), cache.get(2)]).toEqual(["uno", undefined]);
  });

  test("keeps what is asked for again, however many others there are", () => {
    const cache = open();
    cache.set(0, "kept");
    for (let key = 1; key < 1_000; key++) {
      cache.set(key, "other");
      if (key % 4 === 0) expect(cache.get(0)).toBe("kept");
    }
  });

  test("forgets what was not asked for while two generations passed", () => {
    const cache = open();
    for (let key = 0; key < 11; key++) cache.set(key, "value");
    expect(cache.get(0)).toBeUndefined();
    expect(cache.get(10)).toBe("value");
  });

  test("never holds more bytes than it may, whatever is set and asked for", () => {
    const bytesMax = 100;
    const steps = fc.array(fc.record({ key: fc.nat(40), bytes: fc.integer({ min: 1, max: 50 }) }));
    fc.assert(
      fc.property(steps, (taken) => {
        const held: number[] = [];
        const cache = new GenerationCache<number, { bytes: number }>(bytesMax, (_, { bytes }) => bytes);
        for (const { key, bytes } of taken) {
          if (cache.get(key) === undefined) cache.set(key, { bytes });
          held.push(cache.bytes);
        }
        expect(Math.max(0, ...held)).toBeLessThanOrEqual(bytesMax);
      }),
    );
  });
});
