import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { numberLines, splitLines } from "../../../../enrich/lines/split-lines.js";
import { testTable } from "../../../support/test-table.js";

describe("splitLines", () => {
  testTable("splits %j", (text) => [...splitLines(Buffer.from(text))].map(String), [
    ["", []],
    ["\n", [""]],
    ["a\nb\n", ["a", "b"]],
    ["a\r\n\nb", ["a\r", "", "b"]],
  ]);

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
