import { expect, test } from "vitest";
import { ActiveDryRuns } from "../../../../api/imports/active-dry-runs.js";

test("reads 15 dry runs of an owner and 100 of all at once, and more when one has ended", () => {
  const active = new ActiveDryRuns();
  const open = Array.from({ length: 100 }, (_, index) => active.open(`owner ${Math.floor(index / 15)}`));
  expect(() => active.open("owner 0")).toThrow("too many active imports");
  expect(() => active.open("another")).toThrow("Too many dry runs");
  open[0]?.[Symbol.dispose]();
  expect(() => active.open("owner 0")).not.toThrow();
  expect(() => active.open("another")).toThrow("Too many dry runs");
});
