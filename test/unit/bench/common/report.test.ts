import { expect, test } from "vitest";
import { median, overRounds } from "../../../bench/common/median.js";
import { factLines, factTable, report } from "../../../bench/common/report.js";

const OURS = { events_per_second: 83_333.3, latency_ms: { p50: 2.5 }, cpu_cores: 0.25, name: "lz4" };
const PEER = { events_per_second: 5, resident_max_bytes: 2_500_000, seconds: 12.3456, ratio: 1 };

test("a table gives every number its unit, and facts of one name one line", () => {
  expect(
    factTable("", [
      ["ours", OURS],
      ["peer", PEER],
    ]).split("\n"),
  ).toEqual([
    "                     ours     peer",
    "  events        83,333 /s     5 /s",
    "  latency p50     2.50 ms",
    "  CPU                25 %",
    "  name                lz4",
    "  resident max             2.50 MB",
    "  time                      12.3 s",
    "  ratio                       1.00",
    "",
  ]);
});

test("a table has a line for each of many", () => {
  expect(
    factLines("log", [
      ["a", { seconds: 1 }],
      ["b", { bytes: 5e9 }],
    ]),
  ).toBe("  log  time      size\n  a     1 s\n  b          5,000 MB\n");
});

test("JSON has three decimals", () => {
  const { text, json } = report({ title: "few", tables: [], json: { rates: [1 / 3] } });
  expect(json).toEqual({ rates: [0.333] });
  expect(text).toMatch(/^few on \d+ cores\n/);
});

test.each([
  [[3], 3],
  [[1, 2], 1.5],
  [[9, 1, 5], 5],
  [[10, 9, 1, 2], 5.5],
])("the middle of %j is %d", (values, middle) => {
  expect(median(values)).toBe(middle);
  const round = (value: number) => ({ ms: { max: value }, resident_max_bytes: value, servers: [value] });
  expect(overRounds(values.map(round))).toEqual({
    ...{ ms: { max: middle }, resident_max_bytes: Math.max(...values), servers: [middle] },
  });
});

test("nothing has no median", () => {
  expect(() => median([])).toThrow("no median");
  expect(() => overRounds([])).toThrow("no median");
});
