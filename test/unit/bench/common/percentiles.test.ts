import { expect, test } from "vitest";
import { percentiles } from "../../../bench/common/percentiles.js";

test.each([
  { values: [7], expected: { p50: 7, p90: 7, p99: 7, max: 7 } },
  { values: [4, 1, 3, 2], expected: { p50: 2, p90: 4, p99: 4, max: 4 } },
  {
    values: Array.from({ length: 1000 }, (_, i) => 1000 - i),
    expected: { p50: 500, p90: 900, p99: 990, max: 1000 },
  },
])("answers values that occur ($expected)", ({ values, expected }) => {
  expect(percentiles(Float64Array.from(values))).toEqual(expected);
});

test("throws for an empty list", () => {
  expect(() => percentiles(new Float64Array(0))).toThrow("no percentile of nothing");
});
