import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { buffer } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { CONTENT_ENCODINGS, openBody } from "../../../../ingest/import/open-body.js";

const PART_BYTES = 64 * 1024;
const text = Buffer.from('{"$time":1}\n'.repeat(50_000));
const ZEROS = Buffer.alloc(3 * PART_BYTES);

/** A request whose body comes in parts; `pulled` counts the bytes that were asked of it. */
function requestOf(bytes: Buffer): { request: Readable; pulled: () => number } {
  let at = 0;
  const request = new Readable({
    highWaterMark: PART_BYTES,
    read() {
      this.push(at < bytes.length ? bytes.subarray(at, at + PART_BYTES) : null);
      at += PART_BYTES;
    },
  });
  return { request, pulled: () => Math.min(at, bytes.length) };
}

/** Lets streams do all that they do by themselves. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe("openBody", () => {
  test.each([
    ["no encoding", undefined, text],
    ["an empty encoding", "", text],
    ["identity", "identity", text],
    ["gzip", "gzip", gzipSync(text)],
    ["gzip of several members", "gzip", Buffer.concat([gzipSync(text), gzipSync(text)])],
    ["gzip in capitals and spaces", " GZip ", gzipSync(text)],
    ["gzip that is padded with zeros", "gzip", Buffer.concat([gzipSync(text), ZEROS])],
    ["gzip of several members, padded", "gzip", Buffer.concat([gzipSync(text), gzipSync(text), ZEROS])],
    ["x-gzip", "x-gzip", gzipSync(text)],
    ["deflate", "deflate", deflateSync(text)],
    ["br", "br", brotliCompressSync(text)],
  ])("gives back what was sent with %s", async (name, encoding, sent) => {
    const copies = name.includes("several") ? [text, text] : [text];
    const body = await buffer(openBody(requestOf(sent).request, { contentEncoding: encoding }));
    expect(body.equals(Buffer.concat(copies))).toBe(true);
  });

  test.each(["zip", "gzip, gzip", "constructor", "__proto__", "toString"])(
    "refuses the encoding %s and names those that it takes",
    (encoding) => {
      expect(() => openBody(requestOf(text).request, { contentEncoding: encoding })).toThrow(
        expect.objectContaining({
          code: "unsupported-encoding",
          message: expect.stringContaining("gzip, deflate, br") as string,
        }),
      );
    },
  );

  test("names each encoding once", () => {
    expect(CONTENT_ENCODINGS.slice(0, 3)).toEqual(["gzip", "deflate", "br"]);
  });

  const corrupt = gzipSync(randomBytes(500_000)).fill(7, 200_000, 200_100);
  test.each([
    ["ends early", gzipSync(text).subarray(0, 500), "Z_BUF_ERROR"],
    ["is damaged", corrupt, "Z_DATA_ERROR"],
    ["was never compressed", text, "Z_DATA_ERROR"],
    ["has something else after its end", Buffer.concat([gzipSync(text), text]), "Z_DATA_ERROR"],
    ["has something else after zeros", Buffer.concat([gzipSync(text), ZEROS, text]), "Z_DATA_ERROR"],
    [
      "has another member after zeros",
      Buffer.concat([gzipSync(text), ZEROS.subarray(0, 9), gzipSync(text)]),
      "Z_DATA_ERROR",
    ],
    ["is empty", Buffer.alloc(0), "Z_BUF_ERROR"],
  ])("throws when compressed data %s", async (_, sent, code) => {
    await expect(
      buffer(openBody(requestOf(sent).request, { contentEncoding: "gzip" })),
    ).rejects.toMatchObject({ code });
  });

  test("takes zeros after gzip wherever parts end", async () => {
    const sent = Buffer.concat([gzipSync("line\n"), ZEROS.subarray(0, 40)]);
    for (let at = 1; at < sent.length; at++) {
      const request = Readable.from([sent.subarray(0, at), sent.subarray(at)], { objectMode: false });
      const body = await buffer(openBody(request, { contentEncoding: "gzip" }));
      expect(body.toString()).toBe("line\n");
    }
  });

  test.runIf(CONTENT_ENCODINGS.includes("zstd"))(
    "refuses zstd with a window of more than 8 MiB, and says how to pack instead",
    async () => {
      // A frame's header and an empty last block (RFC 8878, 3.1.1): windows of 8 and of 16 MiB.
      const frame = (windowDescriptor: string) => Buffer.from(`28b52ffd00${windowDescriptor}010000`, "hex");
      const read = (sent: Buffer) => buffer(openBody(requestOf(sent).request, { contentEncoding: "zstd" }));
      expect(await read(frame("68"))).toEqual(Buffer.alloc(0));
      await expect(read(frame("70"))).rejects.toMatchObject({
        code: "invalid-body",
        message: expect.stringContaining("8 MiB: pack it without --long") as unknown,
      });
    },
  );

  test.each([
    ["deflate", deflateSync(text)],
    ["br", brotliCompressSync(text)],
  ])(
    "throws when there is more after the end of %s, in the same part or a later one",
    async (encoding, sent) => {
      for (const more of [deflateSync(text), Buffer.alloc(PART_BYTES * 3), Buffer.from("x")]) {
        const body = openBody(requestOf(Buffer.concat([sent, more])).request, { contentEncoding: encoding });
        await expect(buffer(body)).rejects.toMatchObject({ code: "Z_DATA_ERROR" });
      }
    },
  );

  test.each([undefined, "gzip"])("throws when the sender breaks off (%s)", async (encoding) => {
    const sent = encoding === undefined ? text : gzipSync(text);
    const broken = Readable.from(
      (function* () {
        yield sent.subarray(0, 1000);
        throw new Error("aborted");
      })(),
      { objectMode: false },
    );
    await expect(buffer(openBody(broken, { contentEncoding: encoding }))).rejects.toThrow("aborted");
  });

  test.each([undefined, "gzip"])(
    "throws when the sender had gone before reading began (%s)",
    async (encoding) => {
      const { request } = requestOf(text);
      request.destroy();
      await expect(buffer(openBody(request, { contentEncoding: encoding }))).rejects.toThrow();
    },
  );

  test.each([undefined, "gzip"])("reads nothing before it is asked for anything (%s)", async (encoding) => {
    const { request, pulled } = requestOf(text);
    openBody(request, { contentEncoding: encoding });
    await settled();
    expect(pulled()).toBe(0);
  });

  test.each([undefined, "gzip"])("reads no faster than it is consumed (%s)", async (encoding) => {
    const large = randomBytes(8 * 1024 * 1024);
    const { request, pulled } = requestOf(encoding === undefined ? large : gzipSync(large, { level: 1 }));
    const body = openBody(request, { contentEncoding: encoding })[Symbol.asyncIterator]();
    await body.next();
    await settled();
    expect(pulled()).toBeLessThan(1024 * 1024);
    await body.return?.();
  });

  test.each([
    [undefined, text],
    ["gzip", gzipSync(randomBytes(500_000))],
  ])(
    "leaves the request whole and read to its end when its body is no longer wanted (%s)",
    async (encoding, sent) => {
      const { request, pulled } = requestOf(sent);
      for await (const part of openBody(request, { contentEncoding: encoding })) {
        expect(part.length).toBeGreaterThan(0);
        break;
      }
      const ended = new Promise((resolve) => request.once("end", resolve));
      await ended;
      expect(request.errored).toBeNull();
      expect(pulled()).toBe(sent.length);
    },
  );

  test("keeps the connection when the body cannot be decompressed, so that it can be answered", async () => {
    const { request } = requestOf(Buffer.concat([Buffer.from("no gzip"), text]));
    const ended = new Promise((resolve) => request.once("end", resolve));
    await expect(buffer(openBody(request, { contentEncoding: "gzip" }))).rejects.toThrow();
    await ended;
    expect(request.errored).toBeNull();
  });

  const zeros = Buffer.alloc(8 * 1024 * 1024);
  test.each([
    ["identity", zeros],
    ["gzip", gzipSync(zeros)],
    ["br", brotliCompressSync(zeros)],
  ])(
    "throws too-large as soon as more has come out of it than it may hold (%s)",
    async (contentEncoding, sent) => {
      let bytes = 0;
      const read = async (bytesMax: number) => {
        for await (const part of openBody(requestOf(sent).request, { contentEncoding, bytesMax }))
          bytes += part.length;
      };
      await expect(read(1024 * 1024)).rejects.toMatchObject({
        code: "too-large",
        message: expect.stringContaining("1 MiB") as unknown,
      });
      expect(bytes).toBeLessThanOrEqual(1024 * 1024);
      bytes = 0;
      await expect(read(zeros.length - 1)).rejects.toMatchObject({ code: "too-large" });
      bytes = 0;
      await read(zeros.length);
      expect(bytes).toBe(zeros.length);
    },
  );
});
