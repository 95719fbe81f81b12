import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { numberLines } from "../../../../enrich/lines/split-lines.js";
import { cutChunks, type Chunk, type CutLimits } from "../../../../ingest/import/cut-chunks.js";

const limits = { bytesTarget: 16, lineBytesMax: 12 };

async function* streamOf(parts: Iterable<Buffer>): AsyncGenerator<Buffer> {
  yield* parts;
}

async function cut(parts: Iterable<Buffer>, { bytesTarget, lineBytesMax }: CutLimits): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  for await (const chunk of cutChunks(streamOf(parts), { bytesTarget, lineBytesMax })) chunks.push(chunk);
  return chunks;
}

const cutTexts = (...texts: string[]) =>
  cut(
    texts.map((text) => Buffer.from(text)),
    limits,
  );

const textsOf = (chunks: readonly Chunk[]) => chunks.map(({ bytes }) => bytes.toString("latin1"));

/** Bytes in which line ends are frequent, in parts of any size. */
const bodies = fc
  .array(fc.array(fc.constantFrom(10, 10, 13, 32, 97, 98, 255), { maxLength: 40 }), { maxLength: 20 })
  .map((parts) => parts.map((part) => Buffer.from(part)));

/** The part of a body that is kept: one byte more of each line than a line and its CR may have. */
function withShortLines(body: string, lineBytesMax: number): string {
  return body
    .split("\n")
    .map((line) => line.slice(0, lineBytesMax + 2))
    .join("\n");
}

describe("cutChunks", () => {
  test("gives back the lines byte for byte, however the body was split", async () => {
    await fc.assert(
      fc.asyncProperty(bodies, fc.integer({ min: 1, max: 64 }), async (parts, bytesTarget) => {
        const chunks = await cut(parts, { bytesTarget, lineBytesMax: 1000 });
        const joined = Buffer.concat(chunks.map(({ bytes }) => bytes));
        expect(joined.equals(Buffer.concat(parts))).toBe(true);
      }),
    );
  });

  test("ends every chunk but the last at a line end, and none is empty", async () => {
    await fc.assert(
      fc.asyncProperty(bodies, async (parts) => {
        const texts = textsOf(await cut(parts, limits));
        expect(texts.slice(0, -1).every((text) => text.endsWith("\n"))).toBe(true);
        expect(texts).not.toContain("");
      }),
    );
  });

  test.each(["\n", " \n", "\r\n"])("makes no view for each of very many blank lines: %j", async (blank) => {
    const views = vi.spyOn(Buffer.prototype, "subarray");
    const [chunk] = await cut([Buffer.from(blank.repeat(1_000))], {
      bytesTarget: 10_000,
      lineBytesMax: 10_000,
    });
    expect(chunk).toMatchObject({ lineEnds: 1_000, events: 0, blankBytes: 1_000 * blank.length });
    expect(views.mock.calls.length).toBeLessThan(10);
    views.mockRestore();
  });

  test("numbers the first line of a chunk, blank lines counted", async () => {
    await fc.assert(
      fc.asyncProperty(bodies, async (parts) => {
        const chunks = await cut(parts, limits);
        const numbers = chunks.map(({ firstLine }) => firstLine);
        const before = chunks.map((_, index) => textsOf(chunks.slice(0, index)).join(""));
        expect(numbers).toEqual(before.map((text) => text.split("\n").length));
      }),
    );
  });

  test("counts the lines that are not blank as enrichment does", async () => {
    await fc.assert(
      fc.asyncProperty(bodies, async (parts) => {
        for (const { bytes, firstLine, events } of await cut(parts, limits))
          expect(events).toBe([...numberLines(bytes, firstLine)].length);
      }),
    );
  });

  test("numbers it whether lines are long or short, or long until they are short", async () => {
    const line = fc.constantFrom("", "a", "x".repeat(100), "y".repeat(300));
    const runs = fc.array(fc.tuple(line, fc.integer({ min: 1, max: 100 })), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(runs, async (lengths) => {
        const body = lengths.map(([text, times]) => `${text}\n`.repeat(times)).join("");
        const parts = [Buffer.from(body), Buffer.from("last")];
        const chunks = await cut(parts, { bytesTarget: 1, lineBytesMax: 1_000 });
        const last = { bytes: Buffer.from("last"), firstLine: body.split("\n").length, events: 1 };
        expect(chunks.at(-1)).toMatchObject(last);
      }),
    );
  });

  test("shortens a line that is too long so that this still shows, wherever parts end", async () => {
    await fc.assert(
      fc.asyncProperty(bodies, fc.integer({ min: 1, max: 30 }), async (parts, lineBytesMax) => {
        const kept = textsOf(await cut(parts, { bytesTarget: 16, lineBytesMax })).join("");
        expect(kept).toBe(withShortLines(Buffer.concat(parts).toString("latin1"), lineBytesMax));
      }),
    );
  });

  test("bounds a chunk by the larger of its target and one line, and one part", async () => {
    await fc.assert(
      fc.asyncProperty(bodies, async (parts) => {
        const largest = Math.max(...(await cut(parts, limits)).map(({ bytes }) => bytes.length), 0);
        const part = Math.max(...parts.map(({ length }) => length), 0);
        expect(largest).toBeLessThanOrEqual(Math.max(limits.bytesTarget, limits.lineBytesMax + 2) + part);
      }),
    );
  });

  test.each([
    ["an empty body", [], []],
    ["empty parts", ["", "", ""], []],
    ["a body without a last line end", ["a\nb"], ["a\nb"]],
    ["a line longer than the target", ["0123456789\r\n"], ["0123456789\r\n"]],
    ["CR LF split between parts", ["one\r", "\ntwo\r\n"], ["one\r\ntwo\r\n"]],
    ["blank lines", ["\n\n \n\n"], ["\n\n \n\n"]],
    ["lines up to the target", ["0123456\n", "0123456\n", "next"], ["0123456\n0123456\n", "next"]],
    ["a line end only in an earlier part", ["0123456\n012", "3456789"], ["0123456\n", "0123456789"]],
    ["a line of exactly the limit and a CR", ["0123456789ab\r\n"], ["0123456789ab\r\n"]],
    ["a line beyond the limit", ["0123456789abcdefgh", "ijk\nnext"], ["0123456789abcd\n", "next"]],
    ["a last line beyond the limit", ["0123456789", "abcdefgh"], ["0123456789abcd"]],
  ])("cuts %s", async (_, parts, chunks) => {
    expect(textsOf(await cutTexts(...parts))).toEqual(chunks);
  });

  test("reads 64 MiB without a newline with the memory of one line", async () => {
    const part = Buffer.alloc(64 * 1024, "x");
    const chunks = await cut(
      (function* () {
        for (let sent = 0; sent < 1024; sent++) yield part;
      })(),
      { bytesTarget: 512 * 1024, lineBytesMax: 1_048_576 },
    );
    expect(chunks.map(({ bytes }) => bytes.length)).toEqual([1_048_578]);
  });

  test("reads a line of 1 MiB in parts of a few bytes without searching it again for each", async () => {
    const part = Buffer.alloc(4, "x");
    const parts = (function* () {
      for (let sent = 0; sent < 262_144; sent++) yield part;
      yield Buffer.from("\nnext");
    })();
    const chunks = await cut(parts, { bytesTarget: 512 * 1024, lineBytesMax: 1_048_576 });
    expect(chunks.map(({ bytes }) => bytes.length)).toEqual([1_048_577, 4]);
  });

  test("reads no further than its chunks are consumed", async () => {
    let sent = 0;
    const parts = (function* () {
      for (; sent < 1000; sent++) yield Buffer.from("0123456789\n");
    })();
    const chunks = cutChunks(streamOf(parts), limits);
    await chunks.next();
    expect(sent).toBeLessThan(5);
    await chunks.return(undefined);
  });
});
