import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  cleanText,
  describeValue,
  excerpt,
  isLongerThan,
  truncate,
} from "../../../../enrich/lines/clean-text.js";
import { testTable } from "../../../support/test-table.js";

const texts = fc.string({
  unit: fc.oneof(fc.constantFrom("\r", "\n", "\0", "é", "€", "😀", "\ud83d"), fc.string()),
});

describe("cleanText", () => {
  testTable("makes %j to %j", cleanText, [
    ["", ""],
    ["plain", "plain"],
    ["a\r\nb", "a  b"],
    ["\0\n\r", "   "],
    ["tab\tstays, so does \u2028", "tab\tstays, so does \u2028"],
  ]);
});

describe("isLongerThan", () => {
  test("counts bytes of UTF-8, not characters", () => {
    fc.assert(
      fc.property(texts, fc.nat(40), (text, bytesMax) => {
        expect(isLongerThan(text, bytesMax)).toBe(Buffer.byteLength(text) > bytesMax);
      }),
    );
  });
});

describe("truncate", () => {
  test("keeps as many whole characters as fit", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.nat(40), (text, bytesMax) => {
        const kept = truncate(text, bytesMax);
        const next = [...text.slice(kept.length)][0] ?? "";
        expect(text.startsWith(kept)).toBe(true);
        expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(bytesMax);
        expect(kept === text || Buffer.byteLength(kept + next) > bytesMax).toBe(true);
      }),
    );
  });
});

describe("excerpt", () => {
  test.each([
    ["short", "short"],
    ["0123456789", "0123456789"],
    ["0123456789a", "0123456789…"],
    ["01234567😀", "01234567…"],
    ["one\ntwo\0", "one two "],
    ["half \ud83d", "half \ufffd"],
  ])("shows %j as %j", (text, shown) => {
    expect(excerpt(text, 10)).toBe(shown);
  });

  test("is text that PostgreSQL can store in JSON, whatever the sender wrote", () => {
    fc.assert(
      fc.property(texts, fc.nat(20), (text, bytesMax) => {
        expect(excerpt(text, bytesMax)).not.toMatch(/[\0\p{Surrogate}]/u);
      }),
    );
  });
});

describe("describeValue", () => {
  test.each([
    ["text", "text"],
    [7.5, "7.5"],
    [true, "true"],
    [null, "null"],
    [[1, 2], "[…]"],
    [{ a: 1 }, "{…}"],
  ])("shows %j as %s", (value, shown) => {
    expect(describeValue(value, 20)).toBe(shown);
  });

  test.each([
    "203.0.113.9",
    "from 203.0.113.9:443",
    `${"x".repeat(15)}203.0.113.9`,
    "2001:db8::9",
    "\\u0032001:db8::9",
    "%3A%3Affff%3A203.0.113.9",
    ".".repeat(30_000).replaceAll(".", "1.1.1.1 "),
  ])("does not show a text with an address, such as %.40s", (text) => {
    expect(describeValue(text, 20)).toBe("(contains an address)");
  });

  test.each(["2025-03-10T25:00:00Z", "01990000-0000-7000-8000-00000000000a", "1.2.3"])(
    "shows %s, which is none",
    (text) => expect(describeValue(text, 60)).toBe(text),
  );

  test("shows a value that is nested deeper than the stack", () => {
    const deep: unknown = JSON.parse("[".repeat(100_000) + "]".repeat(100_000));
    expect(describeValue(deep, 20)).toBe("[…]");
  });
});
