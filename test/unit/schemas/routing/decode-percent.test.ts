import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodePercent, readableText } from "../../../../schemas/routing/decode-percent.js";
import { testTable } from "../../../support/test-table.js";

const plainOf = (text: string) => decodePercent(text).map(({ plain }) => plain);
const encodedOf = (text: string) =>
  decodePercent(text)
    .map(({ encoded }) => encoded)
    .join("");

describe("percent-encoding", () => {
  testTable("%s is %j", plainOf, [
    ["caf%C3%A9", ["c", "a", "f", "é"]],
    ["%f0%9f%98%80", ["😀"]],
    ["😀", ["😀"]],
    ["a+b", ["a", "+", "b"]],
    ["%2f%2F/", ["/", "/", "/"]],
    ["%2541", ["%", "4", "1"]],
    ["50%", ["5", "0", "%"]],
    ["%zz", ["%", "z", "z"]],
    ["%ff%C3%A9", ["\udcff", "é"]],
    ["%C3%28", ["\udcc3", "("]],
    ["%E2%82", ["\udce2", "\udc82"]],
  ]);

  test("makes an encoded separator differ from a plain one", () => {
    expect(decodePercent("%2f/").map(({ match }) => match)).toEqual(["%2F", "/"]);
  });

  test("stays for reserved characters and is decoded for others", () => {
    expect(encodedOf("a%2fb%3F%41%C3%A9%25%2b+%")).toBe("a%2Fb%3FAé%25%2B+%25");
  });

  test("is readable for bytes that are not UTF-8, and for characters that only look like them", () => {
    expect(readableText(plainOf("%ff%F0%9F%92%80").join(""))).toBe("%FF\u{1f480}");
  });

  test("is decoded for any text, and only once", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(plainOf(encodeURIComponent(text)).join("")).toBe(text);
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("%", "2", "F", "f", "c", "3", "/") }), (text) => {
        expect(encodedOf(encodedOf(text))).toBe(encodedOf(text));
      }),
    );
  });
});
