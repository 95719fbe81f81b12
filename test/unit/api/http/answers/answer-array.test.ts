import { gunzipSync } from "node:zlib";
import { buffer } from "node:stream/consumers";
import type { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { answerArray } from "../../../../../api/http/answers/answer-rows.js";
import type { ApiContext } from "../../../../../api/http/route.js";

const LONG = "x".repeat(100_000);

function contextFor(encoding: string) {
  const headers: Record<string, string> = {};
  const ctx = {
    body: undefined as Buffer | Readable | undefined,
    type: "",
    headers,
    set: (name: string, value: string) => (headers[name] = value),
    vary: () => undefined,
    acceptsEncodings: () => encoding,
    response: { get: () => "application/json" },
  };
  return { ctx: ctx as unknown as ApiContext, seen: ctx };
}

describe("answerArray", () => {
  test.each([
    [[], "[]"],
    [[[]], "[]"],
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
      for (; read < 100;) yield [{ number: ++read, LONG }];
    }
    await answerArray(ctx, parts(), '"tag"');
    expect(read).toBeLessThan(5);
    const whole = JSON.parse((await buffer(seen.body as Readable)).toString()) as { number: number }[];
    expect(whole.map(({ number }) => number)).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
  });

  test("packs a long list for callers who accept it", async () => {
    const { ctx, seen } = contextFor("gzip");
    const parts = Array.from({ length: 10 }, (_, number) => [{ number, LONG }]);
    await answerArray(ctx, partsOf(parts), '"tag"');
    expect(seen.headers["Content-Encoding"]).toBe("gzip");
    const bytes = await buffer(seen.body as Readable);
    expect(JSON.parse(gunzipSync(bytes).toString())).toEqual(parts.flat());
  });
});

async function* partsOf(parts: readonly (readonly object[])[]) {
  yield* parts;
}
