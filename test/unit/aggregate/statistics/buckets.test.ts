import { expect, test } from "vitest";
import { bucketsOf } from "../../../../aggregate/statistics/buckets.js";

test.each([
  ["day", "2024-02-28", "2024-03-02", ["2024-02-28", "2024-02-29", "2024-03-01"]],
  // A Wednesday to a Tuesday.
  ["week", "2026-11-04", "2026-11-17", ["2026-11-04", "2026-11-09", "2026-11-16"]],
  ["week", "2026-11-02", "2026-11-09", ["2026-11-02"]],
  ["week", "2025-12-31", "2026-01-06", ["2025-12-31", "2026-01-05"]],
  ["month", "2025-12-31", "2026-02-02", ["2025-12-31", "2026-01-01", "2026-02-01"]],
] as const)("by %s, %s to %s has these buckets", (interval, startDate, endDate, buckets) => {
  expect(bucketsOf({ startDate, endDate }, interval)).toEqual(buckets);
});
