import { expect, test } from "vitest";
import { LANES, partitionsOf } from "../../../../schemas/records/event-log.js";

test.each([
  [1, [0], []],
  [2, [0], [1]],
  [8, [0, 1], [2, 3, 4, 5, 6, 7]],
])("%i partitions have the express lane %j and the bulk lane %j", (partitions, express, bulk) => {
  expect(partitionsOf("express", partitions)).toEqual(express);
  expect(partitionsOf("bulk", partitions)).toEqual(bulk);
});

test("every partition is in one lane", () => {
  for (let partitions = 1; partitions <= 100; partitions++) {
    const all = LANES.flatMap((lane) => partitionsOf(lane, partitions));
    expect(all).toEqual(Array.from({ length: partitions }, (_, index) => index));
  }
});
