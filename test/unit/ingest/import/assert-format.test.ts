import { buffer } from "node:stream/consumers";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { ImportFormat } from "../../../../schemas/records/import-format.js";
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
});

const UTF_16 = "iconv -f UTF-16";
const bigEndian = (text: string) => Buffer.from(text, "utf16le").swap16();
const FIRST_LINES: Record<ImportFormat, string> = {
  ndjson: LINE,
  csv: "$time,$version\n2026-11-10,1\n",
  combined: '192.0.2.1 - - [10/Nov/2026:08:00:00 +0000] "GET / HTTP/1.1" 200 1\n',
  cloudfront: "#Version: 1.0\n",
  s3: "o b [10/Nov/2026:08:00:00 +0000] 192.0.2.1 - R REST.GET.OBJECT a\n",
  caddy: '{"ts":1,"request":{"uri":"/"},"status":200}\n',
  traefik: '{"RequestPath":"/","DownstreamStatus":200}\n',
  "docker-dvp": "Action,Timestamp\nx,1\n",
  "pypi-bigquery": '{"timestamp":1,"file":{"filename":"a"}}\n',
  "scarf-csv": "id,type,time\n1,x,2\n",
};

describe.each(Object.entries(FIRST_LINES) as [ImportFormat, string][])("a body of %s", (format, lines) => {
  const refusal = (body: string | Buffer, partBytes = 100) => {
    const bytes = Buffer.from(body);
    const parts = Array.from({ length: Math.ceil(bytes.length / partBytes) }, (_, at) =>
      bytes.subarray(at * partBytes, (at + 1) * partBytes),
    );
    return textOf(assertFormat(inParts(...parts), { format })).catch((error: Error) => error.message);
  };

  test("is handed on", async () => {
    for (const size of [1, 100])
      expect(await refusal(lines, size)).toBe(Buffer.from(lines).toString("latin1"));
  });

  test("in UTF-16 is refused, with a mark and without, and says what to do", async () => {
    const bodies = [
      Buffer.from(`\ufeff${lines}`, "utf16le"),
      Buffer.from(lines, "utf16le"),
      Buffer.from(`\r\n${lines}`, "utf16le"),
      bigEndian(`\ufeff${lines}`),
      bigEndian(lines),
      bigEndian(`\n\n${lines}`),
    ];
    for (const body of bodies)
      for (const size of [1, 100]) expect(await refusal(body, size)).toContain(UTF_16);
  });

  test("after NUL bytes, or of nothing else, is refused and says what to do", async () => {
    const bodies = [
      `\0${lines}`,
      `\0\0\0${lines}`,
      `${"\0".repeat(99)}${lines}`,
      `\n\0${lines}`,
      "\0".repeat(99),
      "\0",
    ];
    for (const body of bodies)
      for (const size of [1, 100]) expect(await refusal(body, size)).toContain("tr -d");
  });
});

describe("a first line that holds several is refused", () => {
  const log = FIRST_LINES.combined.trim();
  const s3 = FIRST_LINES.s3.trim();
  const row = "2026-11-10\t08:00:00\tFRA2\t1\t192.0.2.1\tGET\tx\t/a\t200\t-\tcurl/8\t-";
  test.each([
    ["ndjson", LINE.trim() + LINE.trim(), "jq -c ."],
    ["ndjson", `${LINE.trim()} ${LINE.trim()}`, "jq -c ."],
    ["ndjson", `${LINE.trim()}\r${LINE.trim()}\r`, "jq -c ."],
    ["ndjson", `${LINE.trim()}\u2028${LINE.trim()}`, "jq -c ."],
    ["ndjson", `${LINE.trim()},\n${LINE}`, "jq -c ."],
    ["ndjson", '{"$time":"2026-11-01T08:00Z","a":"} {"}{"b":1}\n', "jq -c ."],
    ["ndjson", '{\n  "$time": "2026-11-01T08:00Z"\n}\n', "jq -c ."],
    ["caddy", '{\r\n"ts":1}', "jq -c ."],
    ["traefik", FIRST_LINES.traefik.trim().repeat(2), "jq -c ."],
    ["pypi-bigquery", FIRST_LINES["pypi-bigquery"].trim().repeat(2), "jq -c ."],
    ["combined", log + log, "line"],
    ["combined", `${log} ${log}`, "line"],
    ["combined", `${log}\r${log}\r`, "end with CR."],
    ["combined", `${log}\u2028${log}`, "line"],
    ["combined", `${log}\\n${log}\\n`, "line"],
    ["s3", s3 + s3, "line"],
    ["s3", `${s3}\r${s3}`, "end with CR."],
    ["cloudfront", `#Version: 1.0 #Fields: date time${row}`, "line"],
    ["cloudfront", `#Version: 1.0\r#Fields: date time\r${row}\r`, "end with CR."],
    ["cloudfront", row + row, "line"],
    ["csv", "$time,$version\r2026-11-10,1\r", "end with CR."],
    ["docker-dvp", "Action,Timestamp\rx,1", "end with CR."],
  ] as const)("%s: %j", async (format, body, advice) => {
    await expect(textOf(assertFormat(inParts(body), { format }))).rejects.toMatchObject({
      message: expect.stringContaining(advice) as string,
    });
  });

  test.each([
    ["ndjson", '{"$time":"2026-11-01T08:00Z","a":"}{\\"},{"}\n'],
    ["ndjson", '{"$time":"2026-11-01T08:00Z","$headers":[{"name":"a","value":"b"},{"name":"c"}]}\n'],
    ["ndjson", `{"$time":"2026-11-01T08:00Z","a":[${'{"b":1},'.repeat(2_000)}1]}\n`],
    ["ndjson", '{"$time":"2026-11-01T08:00Z"}}\n'],
    ["ndjson", `${LINE.trim()}\r\r\n`],
    ["combined", `${log} "-" "say \\"[10/Nov/2026:08:00:00 +0000] \\"GET"\n`],
    ["combined", `${log}\r\r\n${log}`],
    ["combined", `nginx-1  | ${log}\n`],
    ["combined", `${JSON.stringify({ log: `${log}\n`, stream: "stdout" })}\n`],
    ["caddy", `caddy-1  | ${FIRST_LINES.caddy}`],
    ["traefik", `2026-11-10T08:00:00.1Z stdout F ${FIRST_LINES.traefik}`],
  ] as const)("but not %s: %j", async (format, body) => {
    expect(await textOf(assertFormat(inParts(body), { format }))).toBe(Buffer.from(body).toString("latin1"));
  });
});

describe("a table whose header is wrong is refused, and says why", () => {
  test.each([
    ["csv", "$TIME,a\n", "including $time"],
    ["csv", "\n \r\n$TIME,a\n", "including $time"],
    ["csv", "\f\n$time,a\n", "including $time"],
    ["csv", "$time;a\n", "semicolons"],
    ["csv", "$time\ta\n", "tabs"],
    ["docker-dvp", "Action;Timestamp\n", "semicolons"],
    ["csv", "$time,a\r1,2\r", "LF or CRLF"],
    ["scarf-csv", "id,type,time\r1,2,3", "LF or CRLF"],
    ["csv", '$time,"my\nname"\n', "not closed"],
    ["csv", '"$time,$version\n', "not closed"],
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
    ["bytes that are no text", [Buffer.from("ff80fe", "hex")]],
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
