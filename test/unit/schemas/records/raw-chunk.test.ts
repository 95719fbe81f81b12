import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  decodeRawChunk,
  encodeRawChunk,
  type RawChunk,
  CODECS,
} from "../../../../schemas/records/raw-chunk.js";
import { IMPORT_FORMATS, NDJSON } from "../../../../schemas/records/import-format.js";
import { readFileSync } from "node:fs";
import { brotliCompressSync, constants } from "node:zlib";
import { assetUrl } from "../../../../schemas/asset.js";
import {
  LINES_BYTES_MAX,
  linesOf,
  packChunk,
  unpackedSize,
} from "../../../../schemas/records/chunk-codec.js";

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
  format: fc.constantFrom(...IMPORT_FORMATS),
  path: fc.string(),
  header: fc.string(),
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

const chunkOf = (lines: Buffer): RawChunk => ({
  source: "import",
  ownerId: "01990000-0000-7000-8000-00000000000b",
  accountId: "01990000-0000-7000-8000-00000000000c",
  artifactKind: "any",
  artifactId: "",
  importId: "01990000-0000-7000-8000-00000000000a",
  sequence: 300,
  firstLine: 2 ** 40,
  receiptStamp: 1_700_000_000_000,
  ...NDJSON,
  codec: "none",
  lines,
});

const EVENTS = Buffer.from('{"$time":"2026-11-01T08:00:00Z","$unique_id":"pull-1"}\n'.repeat(500));
const SIZE_BYTES = 4;
const QUICK = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

const sized = (size: number, rest: Buffer) => {
  const bytes = Buffer.alloc(SIZE_BYTES);
  bytes.writeUInt32LE(size);
  return Buffer.concat([bytes, rest]);
};

test("every codec is a symbol of the record's schema, in the same order", () => {
  const schema = JSON.parse(readFileSync(assetUrl("schemas/records/raw-chunk.avsc"), "utf8")) as {
    fields: { name: string; type: { symbols?: string[] } }[];
  };
  expect(schema.fields.find(({ name }) => name === "codec")?.type.symbols).toEqual(CODECS);
});

describe.each(CODECS)("with %s", (codec) => {
  test("lines come back from a record as they were, whatever they are", async () => {
    const lines = fc.oneof(
      fc.uint8Array({ maxLength: 3000 }),
      fc
        .array(fc.constantFrom("a", '{"$time":1}\n', "\n"), { maxLength: 900 })
        .map((parts) => parts.join("")),
    );
    await fc.assert(
      fc.asyncProperty(lines, async (sent) => {
        const bytes = Buffer.from(sent as string);
        const packed = await packChunk(chunkOf(bytes), codec);
        expect(packed.lines.length).toBeLessThanOrEqual(bytes.length);
        const record = encodeRawChunk(packed);
        expect(linesOf(decodeRawChunk(record)).equals(bytes)).toBe(true);
        expect(unpackedSize(record)).toBeGreaterThanOrEqual(Math.max(bytes.length, record.length));
      }),
      { numRuns: 50 },
    );
  });

  test("a record counts for its lines as they were received", async () => {
    const record = encodeRawChunk(await packChunk(chunkOf(EVENTS), codec));
    expect(unpackedSize(record)).toBeGreaterThanOrEqual(EVENTS.length);
    expect(unpackedSize(record)).toBeLessThan(EVENTS.length + 300);
  });

  test("damaged lines are bytes within the limit or an error, and never more", async () => {
    const { lines } = await packChunk(chunkOf(EVENTS), codec);
    await fc.assert(
      fc.asyncProperty(fc.nat(lines.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const damaged = Buffer.from(lines);
        damaged[at] = (damaged[at] ?? 0) ^ change;
        expect(outcomeOf({ codec, lines: damaged })).toMatch(/^fits$|^its lines cannot be decompressed \(/);
      }),
    );
  });
});

describe.each(["lz4", "brotli"] as const)("what is not %s", (codec) => {
  test.each([
    ["nothing", Buffer.alloc(0)],
    ["less than a size", Buffer.alloc(3)],
    ["a size alone", sized(1000, Buffer.alloc(0))],
    ["text", Buffer.from("nonsense that was never compressed\n")],
    ["a claim of 4 GiB", sized(2 ** 32 - 1, EVENTS)],
    ["a claim just beyond the limit", sized(LINES_BYTES_MAX + 1, Buffer.alloc(100))],
  ])("is refused: %s", (_, lines) => {
    expect(() => linesOf({ codec, lines })).toThrow("its lines cannot be decompressed");
  });

  test("is refused when it ends early", async () => {
    const { lines } = await packChunk(chunkOf(EVENTS), codec);
    expect(() => linesOf({ codec, lines: lines.subarray(0, -9) })).toThrow(
      "its lines cannot be decompressed",
    );
  });
});

test("a bomb is refused before it has grown beyond what it claims", () => {
  const bomb = brotliCompressSync(Buffer.alloc(16 * 2 ** 20), QUICK);
  expect(bomb.length).toBeLessThan(10_000);
  const before = process.memoryUsage().arrayBuffers;
  expect(() => linesOf({ codec: "brotli", lines: sized(1000, bomb) })).toThrow("cannot be decompressed");
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(LINES_BYTES_MAX);
});

test("lines beyond the limit stay as they are, since nobody would read them back", async () => {
  const lines = Buffer.alloc(LINES_BYTES_MAX + 1, "{}\n");
  const { codec, lines: kept } = await packChunk(chunkOf(lines), "lz4");
  expect(codec).toBe("none");
  expect(kept).toBe(lines);
});

test("a record that is no chunk counts for its bytes", () => {
  expect(unpackedSize(Buffer.alloc(0))).toBe(0);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(unpackedSize(bytes)).toBeGreaterThanOrEqual(bytes.length);
      expect(unpackedSize(bytes)).toBeLessThanOrEqual(Math.max(bytes.length, LINES_BYTES_MAX));
    }),
  );
});

function outcomeOf(packed: Pick<RawChunk, "codec" | "lines">): string {
  try {
    return linesOf(packed).length <= LINES_BYTES_MAX ? "fits" : "too large";
  } catch (error) {
    return (error as Error).message;
  }
}
