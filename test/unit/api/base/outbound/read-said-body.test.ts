import { Readable } from "node:stream";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { readSaidBody } from "../../../../../api/base/outbound/read-said-body.js";

function read(parts: readonly Buffer[], headers: Record<string, string> = {}): Promise<string> {
  return readSaidBody(Object.assign(Readable.from(parts, { objectMode: false }), { headers }));
}

const SAID = "größe: too many";
const LONG = "größe ".repeat(100_000);

describe("what a receiver says", () => {
  test.each<[string, Buffer, Record<string, string>, string]>([
    ["as it is", Buffer.from(SAID), {}, SAID],
    ["in gzip", gzipSync(SAID), { "content-encoding": "gzip" }, SAID],
    ["in gzip by its old name", gzipSync(SAID), { "content-encoding": "X-GZip" }, SAID],
    ["in deflate", deflateSync(SAID), { "content-encoding": "deflate" }, SAID],
    ["in Brotli", brotliCompressSync(SAID), { "content-encoding": "br" }, SAID],
    ["not packed, whatever it says", Buffer.from(SAID), { "content-encoding": "gzip" }, SAID],
    ["as identity", Buffer.from(SAID), { "content-encoding": "identity" }, SAID],
    ["nothing, in gzip", Buffer.alloc(0), { "content-encoding": "gzip" }, ""],
    ["in Latin-1", Buffer.from(SAID, "latin1"), { "content-type": "text/plain; charset=ISO-8859-1" }, SAID],
    ["in UTF-16", Buffer.from(SAID, "utf16le"), { "content-type": 'text/plain;charset="utf-16le"' }, SAID],
    ["in an unknown charset", Buffer.from(SAID), { "content-type": "text/plain; charset=x-none" }, SAID],
    ["with NUL", Buffer.from("a\0b"), {}, "a\ufffdb"],
  ])("%s", async (_, bytes, headers, text) => {
    expect(await read([bytes], headers)).toBe(text);
  });

  test.each([
    ["plain", Buffer.from(LONG), {}],
    ["in gzip", gzipSync(LONG), { "content-encoding": "gzip" }],
    ["in Brotli", brotliCompressSync(LONG), { "content-encoding": "br" }],
  ])("is its first 2048 bytes, %s", async (_, bytes, headers) => {
    const text = await read([bytes], headers);
    expect(Buffer.byteLength(text)).toBeGreaterThan(2_040);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(2_048);
    expect(LONG.startsWith(text)).toBe(true);
  });

  test("in gzip, before it breaks off", async () => {
    const packed = gzipSync(`${"x".repeat(500)}${LONG}`, { level: 0 }).subarray(0, 400);
    expect(await read([packed], { "content-encoding": "gzip" })).toMatch(/^x{300,400}$/);
  });

  test("in gzip ends after its first 2048 bytes, however many there are", async () => {
    const bomb = gzipSync(Buffer.alloc(64 << 20, "x"), { level: 9 });
    expect(await read([bomb], { "content-encoding": "gzip" })).toBe("x".repeat(2_048));
  });
});
