import { expect, test } from "vitest";
import { countWithinBytes } from "../../../../deploy/stores/count-within-bytes.js";

const recordsOf = (...sizes: number[]) => sizes.map((size) => ({ value: new Uint8Array(size) }));

test.each([
  ["none", recordsOf(), 10, 0],
  ["all that fit", recordsOf(4, 3, 3), 10, 3],
  ["those before the first that does not", recordsOf(4, 7, 1), 10, 1],
  ["the first, however large", recordsOf(40, 1), 10, 1],
  ["one without a value as nothing", [{ value: null }, ...recordsOf(10)], 10, 2],
])("counts %s", (_, records, bytesMax, count) => {
  expect(countWithinBytes<Uint8Array | null>(records, { bytesMax })).toBe(count);
});

test("counts a record for what it says that it is", () => {
  const sizeOf = ({ length }: Uint8Array) => length * 8;
  expect(countWithinBytes(recordsOf(1, 1, 1), { bytesMax: 16, sizeOf })).toBe(2);
});
