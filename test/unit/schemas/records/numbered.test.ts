import { expect, test } from "vitest";
import { numbered } from "../../../../schemas/records/numbered.js";

test.each([
  [0, "0 lines"],
  [1, "1 line"],
  [2, "2 lines"],
  [12_345, "12,345 lines"],
])("%i is %s", (count, text) => expect(numbered(count, "line")).toBe(text));

test("has another plural where an s is not enough", () => {
  expect([1, 2].map((count) => numbered(count, "delivery", "deliveries"))).toEqual([
    "1 delivery",
    "2 deliveries",
  ]);
});
