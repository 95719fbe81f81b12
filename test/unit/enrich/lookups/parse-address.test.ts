import { isIP } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseAddress } from "../../../../enrich/lookups/parse-address.js";
import { testTable } from "../../../support/test-table.js";

function wordsOf(text: string): number[] {
  const words = new Uint32Array(4);
  const family = parseAddress(text, words);
  return [...words.subarray(0, { 0: 0, 4: 1, 6: 4 }[family])];
}

describe("parseAddress", () => {
  testTable("reads %s", wordsOf, [
    ["0.0.0.0", [0]],
    ["255.255.255.255", [0xffffffff]],
    ["1.2.3.4", [0x01020304]],
    ["::", [0, 0, 0, 0]],
    ["::1", [0, 0, 0, 1]],
    ["1::", [0x10000, 0, 0, 0]],
    ["2001:db8::8:800:200c:417a", [0x20010db8, 0, 0x00080800, 0x200c417a]],
    ["1:2:3:4:5:6:7:8", [0x10002, 0x30004, 0x50006, 0x70008]],
    ["1:2:3:4:5:6:7::", [0x10002, 0x30004, 0x50006, 0x70000]],
    ["::ffff:1.2.3.4", [0, 0, 0xffff, 0x01020304]],
    ["FFFF::", [0xffff0000, 0, 0, 0]],
  ]);

  it.each(
    [
      ["", "x", "1.2.3", "1.2.3.4.5", "1.2.3.256", "1..2.3", ".1.2.3", "1.2.3.", "1.2.3.4 "],
      [":", ":::", "1:::2", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "12345::", "::g", "1:", ":1"],
      ["1:2:3:4:5:6:7:8::", "1:2:3:4:5:6:7:1.2.3.4", "::1.2.3", "fe80::1%eth0"],
    ].flat(),
  )("refuses %j", (text) => {
    expect(wordsOf(text)).toEqual([]);
  });

  it("reads every address back that is written in full", () => {
    const octets = fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 4, maxLength: 4 });
    const groups = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(octets, groups, (four, eight) => {
        expect(wordsOf(four.join("."))).toEqual([four.reduce((value, octet) => value * 256 + octet, 0)]);
        const words = [0, 2, 4, 6].map((at) => eight[at]! * 0x10000 + eight[at + 1]!);
        expect(wordsOf(eight.map((group) => group.toString(16)).join(":"))).toEqual(words);
      }),
    );
  });

  it("takes what Node takes, but for zones", () => {
    const parts = fc.array(
      fc.oneof(fc.nat(300).map(String), fc.constantFrom("", "0", "00", "01", "1e1", " 1", "256")),
      { minLength: 3, maxLength: 5 },
    );
    const texts = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      parts.map((numbers) => numbers.join(".")),
      parts.map((numbers) => `1::${numbers.join(":")}.1.2.3`),
      fc.string({ unit: fc.constantFrom(..."0123456789abf:.") }),
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect([text, parseAddress(text, new Uint32Array(4))]).toEqual([text, isIP(text)]);
      }),
      { numRuns: 2_000 },
    );
  });
});
