import { isIPv4 } from "node:net";
import { expect, test } from "vitest";
import { Random } from "../../../../deploy/demo/random.js";
import { evenAddresses } from "../../../bench/common/even-addresses.js";

test("draws all of so many addresses, no other, none of them more often, and all of single hosts", () => {
  const random = new Random(1);
  const draw = evenAddresses(1_000);
  const counts = new Map<string, number>();
  for (let drawn = 0; drawn < 100_000; drawn += 1) {
    const address = draw(random);
    counts.set(address, (counts.get(address) ?? 0) + 1);
  }
  expect(counts.size).toBe(1_000);
  expect(Math.max(...counts.values())).toBeLessThan(150);
  const firsts = [...counts.keys()].map((address) => Number(address.split(".", 1)[0]));
  expect([...counts.keys()].filter((address) => !isIPv4(address))).toEqual([]);
  expect(firsts.filter((first) => first < 1 || first > 223)).toEqual([]);
  expect(new Set(firsts).size).toBeGreaterThan(150);
});
