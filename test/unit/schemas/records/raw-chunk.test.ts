import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeRawChunk, encodeRawChunk, type RawChunk } from "../../../../schemas/records/raw-chunk.js";

const chunks: fc.Arbitrary<RawChunk> = fc.record({
  source: fc.constantFrom("import", "collect"),
  ownerId: fc.uuid(),
  accountId: fc.oneof(fc.uuid(), fc.constant("")),
  artifactKind: fc.constantFrom("package", "pixel", "any"),
  artifactId: fc.oneof(fc.uuid(), fc.constant("")),
  importId: fc.uuid(),
  sequence: fc.nat(2 ** 31 - 1),
  firstLine: fc.integer({ min: 1, max: 2 ** 52 }),
  receiptStamp: fc.integer({ min: 0, max: 2 ** 52 }),
  codec: fc.constant("none"),
  lines: fc.uint8Array({ maxLength: 5000 }).map((bytes) => Buffer.from(bytes)),
});

describe("a raw chunk", () => {
  test("is read back from its bytes as it was, wherever they lie in memory", () => {
    fc.assert(
      fc.property(chunks, fc.nat(10), (chunk, before) => {
        const encoded = encodeRawChunk(chunk);
        const placed = Buffer.concat([Buffer.alloc(before), encoded, Buffer.alloc(3)]);
        const view = new Uint8Array(placed.buffer, placed.byteOffset + before, encoded.length);
        expect(decodeRawChunk(view)).toEqual(chunk);
      }),
    );
  });

  test("keeps its bytes when it has 1 MiB", () => {
    const [sample] = fc.sample(chunks, 1) as [RawChunk];
    const lines = Buffer.alloc(1_048_576, "line\n");
    expect(decodeRawChunk(encodeRawChunk({ ...sample, lines })).lines.equals(lines)).toBe(true);
  });

  test("shares the memory of its record", () => {
    const [sample] = fc.sample(chunks, 1) as [RawChunk];
    const encoded = encodeRawChunk({ ...sample, lines: Buffer.alloc(100_000) });
    expect(decodeRawChunk(encoded).lines.buffer).toBe(encoded.buffer);
  });

  test("is not read from other bytes", () => {
    const [sample] = fc.sample(chunks, 1) as [RawChunk];
    const encoded = encodeRawChunk(sample);
    expect(() => decodeRawChunk(encoded.subarray(0, encoded.length - 1))).toThrow();
    expect(() => decodeRawChunk(Buffer.concat([encoded, Buffer.from("x")]))).toThrow();
    expect(() => decodeRawChunk(Buffer.from("nonsense"))).toThrow();
  });
});
