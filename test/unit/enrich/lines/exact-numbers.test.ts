import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeLine, fieldsOf, type LineObject } from "../../../../enrich/lines/decode-line.js";
import { numberText } from "../../../../enrich/lines/exact-numbers.js";
import { readEvent, type ReadEvent } from "../../../../enrich/lines/read-event.js";
import { chunkOf, dockerPackage, RECEIVED_AT } from "./chunk-of.js";

function decode(text: string) {
  const decoded = decodeLine({ bytes: Buffer.from(text), line: 2 }, chunkOf(""));
  if ("fault" in decoded) throw new Error(decoded.fault.message);
  return decoded;
}

function read(members: string): ReadEvent {
  return readEvent(decode(`{${members}}`), dockerPackage, { line: 2, receivedAt: RECEIVED_AT });
}

test.each([
  ['"a":1234567890123456789,"b":0.10,"c":1e400', ["a", "1234567890123456789", "b", "0.10", "c", "1e400"]],
  ['"a":{"b":-0,"c":1.50}, "d":1', ["a.b", "-0", "a.c", "1.50", "d", "1"]],
  ['"a":[1.0, {"b":1e5}, "1.0", null]', ["a", '[1.0,{"b":1e5},"1.0",null]']],
  ['"a":0.0000001,"b":"say \\"x\\", 1.0 ,","c":"2.0"', ["a", "0.0000001", "b", 'say "x", 1.0 ,', "c", "2.0"]],
])("keeps numbers as they were sent: %s", (members, variables) => {
  expect(read(`"$time":1600000001,${members}`)).toMatchObject({ event: { variables }, warnings: [] });
});

test.each([
  ["1234567890123456789", "1234567890123456789"],
  ["-9007199254740993", "-9007199254740993"],
  ["9".repeat(300), "9".repeat(300)],
  ["9007199254740992", "9007199254740992"],
  ["-9007199254740992", "-9007199254740992"],
  ["9007199254740994", "9007199254740994"],
  ["18014398509481984", "18014398509481984"],
  ["1234567890123456800", "1234567890123456800"],
  ["18446744073709551615", "18446744073709551615"],
  ["100000000000000000000", "100000000000000000000"],
  ["5.0", "5"],
  ["5e0", "5"],
  ["1e3", "1000"],
  ["0", "0"],
  ["-0", "0"],
])("takes the integer %s as a unique id", (sent, uniqueId) => {
  const members = [`"$unique_id":${sent}`, `"$unique_id":${sent},"a":1.0`];
  for (const each of members)
    expect(read(`"$time":1600000001,${each}`)).toMatchObject({ event: { uniqueId } });
});

test("takes every integer of 64 bits, and larger ones, as its digits", () => {
  const integers = fc.oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
    fc.bigInt({ min: 2n ** 53n - 2n, max: 2n ** 54n }),
    fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }),
  );
  fc.assert(
    fc.property(integers, (id) => {
      expect(read(`"$time":1600000000,"$unique_id":${id}`)).toMatchObject({
        event: { uniqueId: String(id) },
      });
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  '"$unique_id":1.5000000000000000001',
  '"$unique_id":1e400',
  '"$unique_id":1e16',
  '"$unique_id":1e21',
  '"$unique_id":1e+21',
  '"$unique_id":9007199254740992.0',
  '"$unique_id":9007199254740992.5',
  '"$unique_id":0.5',
  '"$version":1.0,"a":1.0',
])("refuses %s", (members) => {
  expect(read(`"$time":1600000001,${members}`)).toMatchObject({ fault: { type: "invalid-value" } });
});

test.each([
  ["1600000000.2199999999", 1_600_000_000_219],
  [" 1600000000.9999999999", 1_600_000_000_999],
  ["1600000000219.99999", 1_600_000_000_219],
  ["1600000000219.9999", 1_600_000_000_219],
  ["1600000000.219", 1_600_000_000_219],
])("cuts the fraction of the time %s, which JavaScript may round", (sent, time) => {
  for (const members of [`"$time":${sent}`, `"a":1,"$time" : ${sent}`, `"$time":${sent},"a":1`])
    expect(read(members)).toMatchObject({ event: { time } });
});

test("reads a time whose line has such numbers", () => {
  expect(read('"$time":1.6E9,"a":1.0')).toMatchObject({ event: { time: 1_600_000_000_000 } });
  expect(read('"$time":1e400,"a":1.0')).toMatchObject({ fault: { type: "invalid-time" } });
});

test("decodes every line as JSON.parse does, with the text of each number that it would change", () => {
  const digits = fc.stringMatching(/^-?(?:0|[1-9]\d{0,19})(?:\.\d{1,20})?(?:[eE][+-]?\d{1,3})?$/);
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), digits, (object, number) => {
      const json = JSON.stringify(object);
      const line = json === "{}" ? `{"n":${number}}` : `${json.slice(0, -1)},"n":${number}}`;
      const plain = fieldsOf(JSON.parse(line) as LineObject);
      const { fields } = decode(line);
      const at = plain.otherNames.lastIndexOf("n");
      const value = fields.otherValues[at];
      expect(numberText(value) ?? String(value as number)).toBe(number);
      const canonical = fieldsOf(JSON.parse(json) as LineObject).otherValues.map((one) =>
        JSON.stringify(one),
      );
      if (!Object.hasOwn(object, "n"))
        expect(
          fields.otherValues.filter((_, index) => index !== at).map((one) => JSON.stringify(one)),
        ).toEqual(canonical);
    }),
  );
});
