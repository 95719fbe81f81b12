import { expect, test, vi } from "vitest";
import { rememberTexts } from "../../../../enrich/lookups/generation-cache.js";

test("reads equal texts once, empty answers included", () => {
  const read = vi.fn((text: string) => (text === "none" ? "" : text.toUpperCase()));
  const remembered = rememberTexts(read);
  expect(["a", "none", "a", "none"].map(remembered)).toEqual(["A", "", "A", ""]);
  expect(read).toHaveBeenCalledTimes(2);
});

test("reads a long text each time, so that a few of them do not push out all others", () => {
  const read = vi.fn((text: string) => text.slice(0, 1));
  const remembered = rememberTexts(read);
  const long = "x".repeat(1_000_000);
  expect([remembered(long), remembered(long)]).toEqual(["x", "x"]);
  expect(read).toHaveBeenCalledTimes(2);
});
