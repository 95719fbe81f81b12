import { describe, expect, test } from "vitest";
import { isBlank, LINE_BYTES_MAX } from "../../../../schemas/records/import-line.js";

describe("isBlank", () => {
  test.each([
    ["", true],
    [" \t\r", true],
    ["\u00a0", false],
    ["0", false],
    [" ".repeat(LINE_BYTES_MAX) + "\r", true],
    [" ".repeat(LINE_BYTES_MAX + 2), false],
  ])("says of a line whether there is nothing on it (%#)", (text, blank) => {
    expect(isBlank(Buffer.from(text))).toBe(blank);
  });
});
