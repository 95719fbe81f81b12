import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  decodeLine,
  isBlank,
  isRefused,
  LINE_BYTES_MAX,
  splitLines,
} from "../../../../enrich/lines/decode-line.js";

const NOT_AN_OBJECT = {
  fault: { class: "error", type: "failed-to-decode", message: "Not a valid JSON object" },
};

describe("decodeLine", () => {
  test.each([
    "null",
    "7",
    '"text"',
    "[]",
    '[{"$time":1}]',
    "{",
    "{}{}",
    "{'a':1}",
    '{"a":1,}',
    "nonsense",
    '{"a":NaN}',
  ])("refuses %s", (line) => {
    expect(decodeLine(Buffer.from(line))).toEqual(NOT_AN_OBJECT);
  });

  test.each([
    ["{}", {}],
    [' {"a":1} \r', { a: 1 }],
    ['{"a":1,"a":2}', { a: 2 }],
    ['{"fault":{"class":"error","type":"x"}}', { fault: { class: "error", type: "x" } }],
  ])("decodes %s", (line, object) => {
    const decoded = decodeLine(Buffer.from(line));
    expect(decoded).toEqual(object);
    expect(isRefused(decoded)).toBe(false);
  });

  test("keeps a key named __proto__ a key", () => {
    const decoded = decodeLine(Buffer.from('{"__proto__":{"$time":1}}')) as Record<string, unknown>;
    expect(Object.keys(decoded)).toEqual(["__proto__"]);
    expect(decoded["$time"]).toBeUndefined();
  });

  test.each([
    ["1 MiB", "", undefined],
    ["1 MiB and a CR", "\r", undefined],
    ["a byte more", " ", "line-too-long"],
    ["a byte more and a CR", " \r", "line-too-long"],
  ])("takes or refuses a line of %s", (_, tail, type) => {
    const start = '{"a":"';
    const line = `${start}${"x".repeat(LINE_BYTES_MAX - start.length - 2)}"}${tail}`;
    const { fault } = decodeLine(Buffer.from(line)) as { fault?: { type: string } };
    expect(fault?.type).toBe(type);
  });

  test("never throws, whatever the bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(decodeLine(Buffer.from(bytes))).toBeTypeOf("object");
      }),
    );
    expect(isRefused(decodeLine(Buffer.from("[".repeat(500_000))))).toBe(true);
  });
});

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
