import { expect, test } from "vitest";
import { numbered } from "../../../../schemas/records/numbered.js";
import { testTable } from "../../../support/test-table.js";

testTable("%i is %s", (count) => numbered(count, "line"), [
  [0, "0 lines"],
  [1, "1 line"],
  [2, "2 lines"],
  [12_345, "12,345 lines"],
]);

test("has another plural where an s is not enough", () => {
  expect([1, 2].map((count) => numbered(count, "delivery", "deliveries"))).toEqual([
    "1 delivery",
    "2 deliveries",
  ]);
});
