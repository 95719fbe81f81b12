import { expect, test } from "vitest";
import { formatChange, formatCount, formatShare, signedChange } from "../../../../../api/web/parts/format.js";
import { formatAge } from "../../../../../api/web/parts/time.js";
import { testTable } from "../../../../support/test-table.js";

testTable("%i as %s", formatCount, [
  [99_999, "99,999"],
  [123_456, "123\u00a0K"],
  [1_234_567, "1.23\u00a0M"],
]);

testTable("a change by %d as %s", formatChange, [
  [0.12, "12 %"],
  [-0.3333, "33 %"],
  [9.4, "940 %"],
  [24, "25×"],
  [-0.9999, ">99 %"],
  [-1, "100 %"],
]);

testTable("a share of %d as %s, with one decimal in all rows", formatShare, [
  [0.5, "50.0 %"],
  [0.0123, "1.2 %"],
  [0.0001, "<0.1 %"],
  [0, "0.0 %"],
]);

test("a change as text has its sign", () => {
  expect([0.28, -0.5, 0, null].map(signedChange)).toEqual(["+28 %", "−50 %", "±0 %", "new"]);
});

testTable("%s at noon of 22 November is %s", (at) => formatAge(at, Date.parse("2026-11-22T12:00:00Z")), [
  ["2026-11-22T11:59:40Z", "just now"],
  ["2026-11-22T11:57:00Z", "3 minutes ago"],
  ["2026-11-22T10:01:00Z", "1 hour ago"],
  ["2026-11-22T14:00:00Z", "in 2 hours"],
  ["2026-11-20T11:00:00Z", "2 days ago"],
  ["2026-11-15T11:00:00Z", "15 Nov 2026"],
]);
