import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fieldsOf, type LineFields, decodeLine } from "../../../../enrich/lines/decode-line.js";
import { LINE_BYTES_MAX } from "../../../../schemas/records/import-line.js";
import { chunkOf, PACKAGE_ID, PIXEL_ID } from "./chunk-of.js";

const path = chunkOf("");
const decode = (text: string | Uint8Array, line = 2) => decodeLine({ bytes: Buffer.from(text), line }, path);

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
    expect(decode(line)).toEqual(NOT_AN_OBJECT);
  });

  test.each([
    ["{}", {}],
    [' {"a":1} \r', { a: 1 }],
    ['{"a":1,"a":2}', { a: 2 }],
    ['{"fault":{"class":"error","type":"x"}}', { fault: { class: "error", type: "x" } }],
  ])("decodes %s", (line, object) => {
    expect(decode(line)).toEqual({ fields: fieldsOf(object), target: { kind: "package", id: PACKAGE_ID } });
  });

  test("keeps a key named __proto__ a key", () => {
    const { fields } = decode('{"__proto__":{"$time":1}}') as { fields: LineFields };
    expect(fields.otherNames).toEqual(["__proto__"]);
    expect(fields.$time).toBeUndefined();
  });

  test.each([
    ["1 MiB", "", undefined],
    ["1 MiB and a CR", "\r", undefined],
    ["a byte more", " ", "line-too-long"],
    ["a byte more and a CR", " \r", "line-too-long"],
  ])("takes or refuses a line of %s", (_, tail, type) => {
    const start = '{"a":"';
    const line = `${start}${"x".repeat(LINE_BYTES_MAX - start.length - 2)}"}${tail}`;
    const { fault } = decode(line) as { fault?: { type: string } };
    expect(fault?.type).toBe(type);
  });

  test("never throws, whatever the bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(decode(bytes)).toBeTypeOf("object");
      }),
    );
    expect(decode("[".repeat(500_000))).toEqual(NOT_AN_OBJECT);
  });

  test("refuses a line that names another artifact than its path", () => {
    expect(decode(`{"$pixel":"${PIXEL_ID}"}`)).toMatchObject({ fault: { type: "artifact-not-found" } });
  });

  test("passes over a byte order mark in front of the first line, and of no other", () => {
    expect(decode("\ufeff{}", 1)).toHaveProperty("fields");
    expect(decode("\ufeff{}", 2)).toEqual(NOT_AN_OBJECT);
  });
});
