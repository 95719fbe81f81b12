import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ByteSink, uuidBytes } from "../../../../enrich/native/byte-sink.js";
import { NIL_UUID } from "../../../../schemas/formats.js";
import { testTable } from "../../../support/test-table.js";

function written(write: (sink: ByteSink) => void): string {
  // Small, so that it has to grow in the middle of things.
  const sink = new ByteSink(1);
  sink.writeByte(0xff);
  write(sink);
  return sink.bytes().toString("hex").slice(2);
}

describe("ByteSink", () => {
  testTable("writes %i as LEB128", (value) => written((sink) => sink.writeVarUint(value)), [
    [0, "00"],
    [1, "01"],
    [127, "7f"],
    [128, "8001"],
    [300, "ac02"],
    [16_384, "808001"],
    [2 ** 32, "8080808010"],
    [Number.MAX_SAFE_INTEGER, "ffffffffffffff0f"],
  ]);

  test("writes numbers of 64 bits as BigInt would", () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (value) => {
        const expected = Buffer.alloc(8);
        expected.writeBigUInt64LE(BigInt(value));
        expect(written((sink) => sink.writeUint64(value))).toBe(expected.toString("hex"));
      }),
    );
  });

  test("writes any text as its length and UTF-8 bytes", () => {
    const texts = fc.oneof(fc.string({ unit: "binary", maxLength: 200 }), fc.string({ maxLength: 60 }));
    fc.assert(
      fc.property(texts, fc.constantFrom("", "\ud800", "\udc00", "é"), (text, tail) => {
        const bytes = Buffer.from(text + tail);
        const length = written((sink) => sink.writeVarUint(bytes.length));
        expect(written((sink) => sink.writeText(text + tail))).toBe(length + bytes.toString("hex"));
      }),
    );
  });

  test.each([47, 48, 49, 127, 128, 20_000])("writes a text of %i characters whole", (length) => {
    const text = "x".repeat(length - 1) + "y";
    expect(written((sink) => sink.writeText(text)).endsWith(Buffer.from(text).toString("hex"))).toBe(true);
  });

  test("writes fixed bytes and floats", () => {
    const hex = written((sink) => {
      sink.writeUint32(0x01020304);
      sink.writeBytes(Buffer.from("abc"));
      sink.writeFloat32(1.5);
    });
    expect(hex).toBe("04030201" + "616263" + "0000c03f");
  });

  test("gives its bytes without a copy", () => {
    const sink = new ByteSink(16);
    sink.writeText("first");
    expect(sink.bytes().toString()).toBe("\x05first");
    expect(sink.bytes().buffer).toBe(sink.bytes().buffer);
  });
});

describe("uuidBytes", () => {
  test.each([
    [NIL_UUID, "00000000000000000000000000000000"],
    ["00112233-4455-6677-8899-aabbccddeeff", "7766554433221100ffeeddccbbaa9988"],
    ["00112233-4455-6677-8899-AABBCCDDEEFF", "7766554433221100ffeeddccbbaa9988"],
  ])("writes %s as two halves, last byte first", (uuid, hex) => {
    expect(uuidBytes(uuid).toString("hex")).toBe(hex);
  });

  test.each(["", "left-pad", "00112233-4455-6677-8899-aabbccddee", "00112233-4455-6677-8899-aabbccddeegg"])(
    "throws for %j",
    (text) => {
      expect(() => uuidBytes(text)).toThrow(RangeError);
    },
  );
});
