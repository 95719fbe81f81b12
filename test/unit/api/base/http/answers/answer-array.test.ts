import type { EventEmitter } from "node:events";
import { PassThrough, type Readable, Writable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { answerArray } from "../../../../../../api/base/http/answers/answer-array.js";
import type { ApiContext } from "../../../../../../api/base/http/route.js";

const LONG = "x".repeat(100_000);

function contextFor(encoding: string) {
  const headers: Record<string, string> = {};
  const ctx = {
    body: undefined as Buffer | Readable | undefined,
    type: "",
    headers,
    state: { left: new AbortController().signal },
    set: (name: string, value: string) => (headers[name] = value),
    get: () => "",
    vary: () => undefined,
    acceptsEncodings: () => encoding,
  };
  return { ctx: ctx as unknown as ApiContext, seen: ctx };
}

const numbered = (count: number) => Array.from({ length: count }, (_, number) => ({ number, LONG }));

/** What a caller receives. */
async function sent({ body }: { body: Buffer | Readable | undefined }): Promise<Buffer> {
  return Buffer.isBuffer(body) ? body : buffer((body as Readable).pipe(endedBy(body as Readable)));
}

function endedBy(body: EventEmitter): PassThrough {
  const to = new PassThrough();
  body.once("end", () => to.end());
  return to;
}

describe("answerArray", () => {
  test.each([
    [[], "[]"],
    [[[]], "[]"],
    [[[], [{ a: 1 }]], '[{"a":1}]'],
    [[[{ a: 1 }, { a: 2 }], [], [{ a: 3 }]], '[{"a":1},{"a":2},{"a":3}]'],
  ])("answers %j whole, with the tag", async (parts, text) => {
    const { ctx, seen } = contextFor("gzip");
    await answerArray(ctx, partsOf(parts), '"tag"');
    expect((seen.body as Buffer).toString()).toBe(text);
    expect(seen.headers).toEqual({ ETag: '"tag"' });
  });

  test("reads further entries of a long list only once those before are taken", async () => {
    const { ctx, seen } = contextFor("identity");
    let read = 0;
    async function* parts() {
      for (const each of numbered(100)) {
        read += 1;
        yield bytesOf([each]);
      }
    }
    await answerArray(ctx, parts(), '"tag"');
    expect(read).toBeLessThan(5);
    let take = () => undefined as void;
    const reader = new Writable({ write: (_part, _encoding, taken) => void (take = taken) });
    (seen.body as Readable).pipe(reader);
    for (let taken = 0; taken < 12; taken += 1) {
      await new Promise(setImmediate);
      take();
    }
    expect(read).toBeLessThan(10);
  });

  test.each(["identity", "gzip"])("sends a long list whole (%s), a part at a time", async (encoding) => {
    const { ctx, seen } = contextFor(encoding);
    await answerArray(ctx, partsOf(numbered(10).map((each) => [each])), '"tag"');
    const bytes = await sent(seen);
    expect(seen.headers["Content-Encoding"]).toBe(encoding === "gzip" ? "gzip" : undefined);
    const text = encoding === "gzip" ? gunzipSync(bytes) : bytes;
    expect(JSON.parse(text.toString())).toEqual(numbered(10));
  });
});

async function* partsOf(parts: readonly (readonly object[])[]) {
  for (const part of parts) yield bytesOf(part);
}

const bytesOf = (entries: readonly object[]) =>
  Buffer.from(entries.map((entry) => JSON.stringify(entry)).join(","));
