import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isBlank, numberLines, splitLines } from "../../../../enrich/lines/split-lines.js";
import { LINE_BYTES_MAX } from "../../../../schemas/records/import-limits.js";

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

describe("splitLines", () => {
  test.each([
    ["", []],
    ["\n", [""]],
    ["a\nb\n", ["a", "b"]],
    ["a\r\n\nb", ["a\r", "", "b"]],
  ])("splits %j", (text, lines) => {
    expect([...splitLines(Buffer.from(text))].map(String)).toEqual(lines);
  });

  test("gives back every line between line ends", () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[^\n]*$/), { minLength: 1 }), (lines) => {
        const text = lines.map((line) => `${line}\n`).join("");
        expect([...splitLines(Buffer.from(text))].map(String)).toEqual(
          lines.map((line) => Buffer.from(line).toString()),
        );
      }),
    );
  });
});

test("numberLines counts blank lines and leaves them out", () => {
  const numbered = [...numberLines(Buffer.from("\na\n \r\n\nb"), 7)];
  expect(numbered.map(({ line, bytes }) => [line, String(bytes)])).toEqual([
    [8, "a"],
    [11, "b"],
  ]);
});
