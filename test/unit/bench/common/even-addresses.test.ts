import { expect, test } from "vitest";
import { Random } from "../../../../deploy/demo/random.js";
import { evenAddresses } from "../../../bench/common/even-addresses.js";

test("draws all of so many addresses, no other, and none of them more often", () => {
  const random = new Random(1);
  const draw = evenAddresses(1_000);
  const counts = new Map<string, number>();
  for (let drawn = 0; drawn < 100_000; drawn += 1) {
    const address = draw(random);
    counts.set(address, (counts.get(address) ?? 0) + 1);
  }
  expect(counts.size).toBe(1_000);
  expect(Math.max(...counts.values())).toBeLessThan(150);
});
