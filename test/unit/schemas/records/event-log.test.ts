import { expect, test } from "vitest";
import { QUEUES, partitionsOf } from "../../../../schemas/records/event-log.js";

test.each([
  [1, [0], []],
  [2, [0], [1]],
  [8, [0, 1], [2, 3, 4, 5, 6, 7]],
])("%i partitions have the express queue %j and the bulk queue %j", (partitions, express, bulk) => {
  expect(partitionsOf("express", partitions)).toEqual(express);
  expect(partitionsOf("bulk", partitions)).toEqual(bulk);
});

test("every partition is in one queue", () => {
  for (let partitions = 1; partitions <= 100; partitions++) {
    const all = QUEUES.flatMap((queue) => partitionsOf(queue, partitions));
    expect(all).toEqual(Array.from({ length: partitions }, (_, index) => index));
  }
});
