import { buffer } from "node:stream/consumers";
import { afterEach, describe, expect, test, vi } from "vitest";
import { assertFormat, type Claim } from "../../../../ingest/import/assert-format.js";

const assertNdjson = (body: AsyncIterable<Buffer>, claim: Omit<Claim, "format"> = {}) =>
  assertFormat(body, { format: "ndjson", ...claim });

async function* inParts(...parts: readonly (string | Buffer)[]): AsyncGenerator<Buffer> {
  for (const part of parts) yield await Promise.resolve(Buffer.from(part));
}

async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  return (await buffer(body)).toString("latin1");
}

const LINE = '{"$time":"2026-11-01T08:00Z"}\n';

afterEach(() => vi.useRealTimers());

describe("a body that begins as another format does is refused", () => {
  test.each([
    ["gzip", [Buffer.from("1f8b0800", "hex")], "Content-Encoding: gzip"],
    ["gzip, byte by byte", [Buffer.from("1f", "hex"), Buffer.from("8b", "hex")], "Content-Encoding: gzip"],
    ["zstd", [Buffer.from("28b52ffd24", "hex")], "zstd"],
    ["a zip file", [Buffer.from("504b030414", "hex")], "zip"],
    ["a JSON array", [" \n[", LINE, "]"], "jq -c"],
    ["CSV", ["$time,$unique_id\n1,2\n"], "format=csv"],
    ["CSV in quotes, with semicolons", ['\ufeff"timestamp";"user agent"\n'], "format=csv"],
  ])("%s", async (_, parts, advice) => {
    await expect(textOf(assertNdjson(inParts(...parts)))).rejects.toMatchObject({
      code: "not-ndjson",
      message: expect.stringContaining(advice) as string,
    });
  });

  test("lines that curl joined", async () => {
    const contentType = "application/x-www-form-urlencoded";
    const joined = LINE.trim() + LINE.trim();
    await expect(textOf(assertNdjson(inParts(joined), { contentType }))).rejects.toMatchObject({
      code: "not-ndjson",
    });
    expect(await textOf(assertNdjson(inParts(joined)))).toBe(joined);
  });
});

describe("a table whose header is wrong is refused, and says why", () => {
  test.each([
    ["csv", "$TIME,a\n", "$time among them"],
    ["csv", "\n \r\n$TIME,a\n", "$time among them"],
    ["csv", "\f\n$time,a\n", "$time among them"],
    ["csv", "$time;a\n", "semicolons"],
    ["csv", "$time\ta\n", "tabs"],
    ["docker-dvp", "Action;Timestamp\n", "semicolons"],
    ["csv", "$time,a\r1,2\r", "LF or CRLF"],
    ["scarf-csv", "id,type,time\r1,2,3", "LF or CRLF"],
  ] as const)("%s: %j", async (format, body, advice) => {
    for (const size of [1, 1_000])
      await expect(textOf(assertFormat(inParts(...cutInto(body, size)), { format }))).rejects.toMatchObject({
        code: "invalid-body",
        message: expect.stringContaining(advice) as string,
      });
  });
});

function cutInto(text: string, size: number): string[] {
  return text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
}

test.each([
  ["combined", "[::1] - - [01/Nov/2026:08:00:00 +0000] "],
  ["combined", "[01/Nov/2026:08:00:00 +0000] 192.0.2.1 "],
  ["csv", "\n\ufeff\n \n$time\n"],
  ["csv", "$time,a\r\n"],
  ["docker-dvp", "ACTION,time stamp,Timestamp\n"],
] as const)("takes %s: %j", async (format, body) => {
  const expected = Buffer.from(body).toString("latin1");
  expect(await textOf(assertFormat(inParts(body), { format }))).toBe(expected);
});

test.each([
  ["combined", '[{"a":1}]'],
  ["s3", "[\r\n{"],
  ["caddy", "[1]"],
] as const)("a JSON array is no %s: %j", async (format, body) => {
  await expect(textOf(assertFormat(inParts(body), { format }))).rejects.toMatchObject({
    message: expect.stringContaining("JSON array") as string,
  });
});

describe("any other body is handed on whole", () => {
  test.each([
    ["lines", [LINE, LINE, LINE]],
    ["a first line that is wrong", ["hello, world\n", LINE]],
    ["a first line that could be a row", ["a,b,c\n", LINE]],
    ["nothing", []],
    ["no line end", ["{"]],
    ["a long first line", Array.from({ length: 100 }, () => "x".repeat(1_000))],
    ["bytes that are no text", [Buffer.from("ff00fe", "hex")]],
  ])("%s", async (_, parts) => {
    const expected = Buffer.concat(parts.map((part) => Buffer.from(part))).toString("latin1");
    expect(await textOf(assertNdjson(inParts(...parts)))).toBe(expected);
  });

  test("the beginning of a body that stands still is handed on after the idle time of its sender", async () => {
    vi.useFakeTimers();
    const standing = (async function* (): AsyncGenerator<Buffer> {
      yield Buffer.from("{");
      await new Promise(() => undefined);
    })();
    const handedOn = vi.fn();
    void assertNdjson(standing, { idleMsMax: 200 }).next().then(handedOn);
    await vi.advanceTimersByTimeAsync(199);
    expect(handedOn).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(handedOn).toHaveBeenCalledOnce();
  });

  test("a body that breaks off throws where it is read", async () => {
    const broken = (async function* () {
      yield await Promise.resolve(Buffer.from("{"));
      throw new Error("gone");
    })();
    await expect(textOf(assertNdjson(broken))).rejects.toThrow("gone");
  });

  test("ends its source when its reader leaves", async () => {
    let left = false;
    const source = (async function* () {
      try {
        for (;;) yield await Promise.resolve(Buffer.from(LINE));
      } finally {
        left = true;
      }
    })();
    for await (const _ of assertNdjson(source)) break;
    expect(left).toBe(true);
  });
});
