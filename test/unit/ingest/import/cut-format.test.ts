import { describe, expect, test } from "vitest";
import {
  cutFormat,
  type FormattedChunk,
  HEADER_LINE_BYTES_MAX,
} from "../../../../ingest/import/cut-format.js";
import type { ImportFormat } from "../../../../schemas/records/import-format.js";

async function* inParts(text: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

async function cut(text: string, format: ImportFormat, partBytes = 3): Promise<FormattedChunk[]> {
  const limits = { bytesTarget: 10, lineBytesMax: 1_000_000, format };
  const chunks: FormattedChunk[] = [];
  for await (const chunk of cutFormat(inParts(text, partBytes), limits)) chunks.push(chunk);
  return chunks;
}

const seen = (chunks: readonly FormattedChunk[]) =>
  chunks.map(({ header, bytes, firstLine, events }) => [header, String(bytes), firstLine, events]);

describe("the header of a CSV body", () => {
  test.each([1, 3, 1000])("is in every chunk, and no line of one (parts of %i bytes)", async (size) => {
    const rows = Array.from({ length: 5 }, (_, row) => `2026-11-0${row + 1},x\n`);
    const chunks = await cut(`$time,a\r\n${rows.join("")}`, "csv", size);
    expect(new Set(chunks.map(({ header }) => header))).toEqual(new Set(["$time,a"]));
    expect(chunks.map(({ bytes }) => String(bytes)).join("")).toBe(rows.join(""));
    expect(chunks[0]?.firstLine).toBe(2);
    if (size < 1000) expect(chunks.length).toBeGreaterThan(2);
    expect(chunks.reduce((sum, { events }) => sum + events, 0)).toBe(5);
  });

  test.each([
    ["nothing", "", []],
    ["blank lines first", "\n \t\r\n$time,a\n1,2\n", [["$time,a", "1,2\n", 4, 1]]],
    [
      "a byte order mark and blank lines first",
      "\ufeff\r\n\n$time,a\n\n1,2\n",
      [["$time,a", "\n1,2\n", 4, 1]],
    ],
    ["blank lines alone", "\n\n", []],
  ])("%s", async (_, text, chunks) => {
    expect(seen(await cut(text, "csv"))).toEqual(chunks);
  });

  test.each([
    "$time,a\n",
    "$time,a",
    "$time,a\r\n\r\n \n",
    "\n$time,a\n\n",
    "$time,a\u20282026-11-10,1\u2028",
    "$time,a 2026-11-10,1",
  ])("without a row below it is refused: %j", async (text) => {
    for (const format of ["csv", "docker-dvp", "scarf-csv"] as const)
      await expect(cut(text, format)).rejects.toMatchObject({ code: "invalid-body" });
  });

  test("above 64 KiB is refused, and its source ended", async () => {
    let left = false;
    const body = (async function* () {
      try {
        for (;;) yield await Promise.resolve(Buffer.alloc(HEADER_LINE_BYTES_MAX / 2, "a"));
      } finally {
        left = true;
      }
    })();
    const limits = { bytesTarget: 10, lineBytesMax: 100, format: "csv" } as const;
    await expect(cutFormat(body, limits).next()).rejects.toMatchObject({ code: "invalid-body" });
    expect(left).toBe(true);
  });
});

test("the columns of a CloudFront log are those that the last line before the chunk named", async () => {
  const text = "#Fields: a b\n1\t2 #Fields:\n#Fields: c d\r\n3\t4\n5\t#Fields: x\n7\t8\n";
  const chunks = await cut(text, "cloudfront", 1);
  expect(chunks.map(({ bytes }) => String(bytes)).join("")).toBe(text);
  expect(chunks.map(({ header, firstLine }) => [header, firstLine])).toEqual([
    ["", 1],
    ["#Fields: a b", 2],
    ["#Fields: a b", 3],
    ["#Fields: c d", 4],
    ["#Fields: c d", 5],
    ["#Fields: c d", 6],
  ]);
});

test("lines of other formats have no header", async () => {
  expect(seen(await cut("a\nb\n", "ndjson"))).toEqual([["", "a\nb\n", 1, 2]]);
});
