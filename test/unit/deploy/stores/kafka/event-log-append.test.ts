import { expect, test } from "vitest";
import { takeGroup } from "../../../../../deploy/stores/kafka/event-log-append.js";

const MIB = 2 ** 20;
const of = (partition: number, bytes: number) => ({ partition, record: Buffer.alloc(bytes) });
const shown = (group: { partition: number; record: Buffer }[]) =>
  group.map(({ partition, record }) => `${partition}:${record.length / MIB}`);

test("takes one record of each partition however large, and more while their batch has room", () => {
  const waiting = [of(0, 3 * MIB), of(1, MIB), of(0, MIB / 4), of(1, MIB), of(1, MIB / 4), of(2, MIB)];
  expect(shown(takeGroup(waiting))).toEqual(["0:3", "1:1", "1:1", "2:1"]);
  expect(shown(waiting)).toEqual(["0:0.25", "1:0.25"]);
});

test("lets no record of a partition overtake another", () => {
  const waiting = [of(0, MIB), of(0, 1.5 * MIB), of(0, MIB / 4)];
  expect(shown(takeGroup(waiting))).toEqual(["0:1"]);
  expect(shown(takeGroup(waiting))).toEqual(["0:1.5", "0:0.25"]);
  expect(waiting).toEqual([]);
});
