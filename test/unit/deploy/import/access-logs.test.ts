import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Converted, type ImportFormat, eventLines } from "../../../../deploy/import/event-lines.js";
import { decodeRouteTemplate } from "../../../../ingest/routing/url-template.js";

const LOGS = new URL("../../../fixtures/access-logs/", import.meta.url);

type Line = Record<string, string> | string;

interface Read {
  /** Of each line of the log: its event, the line where it is refused, or nothing. */
  lines: readonly Line[];
  skipped: number;
}

async function read(text: string, format: ImportFormat, path?: string): Promise<Read> {
  const converted: Converted = { skipped: 0 };
  const template = path === undefined ? undefined : decodeRouteTemplate(path);
  if (template !== undefined && "fault" in template) throw new Error(template.fault);
  const source = (async function* () {
    // In pieces, as files come.
    for (const byte of text.match(/[^]{1,100}/gu) ?? []) yield await Promise.resolve(Buffer.from(byte));
  })();
  let sent = "";
  for await (const part of eventLines(source, { format, pattern: template }, converted)) sent += String(part);
  const lines = sent
    .split("\n")
    .slice(0, -1)
    .map((line) => (line.startsWith("{") ? (JSON.parse(line) as Line) : line));
  return { lines, ...converted };
}

function logOf(name: string): string {
  return readFileSync(new URL(name, LOGS), "utf8");
}

const DOWNLOAD = {
  file: "/releases/tool-1.4.0.tar.gz",
  $time: "2026-11-23T00:56:17+00:00",
  $remote_address: "127.0.0.1",
  $user_agent: "curl/7.88.1",
};

describe("a log in the format combined", () => {
  test.each(["nginx.txt", "apache.txt", "apache-vhost.txt"])("of a real server, %s", async (name) => {
    const { lines } = await read(logOf(name), "combined");
    expect(lines).toHaveLength(8);
    expect(lines[0]).toMatchObject(DOWNLOAD);
    expect(lines[1]).toMatchObject({
      file: DOWNLOAD.file,
      $referrer: 'https://example.org/a?b="c"',
      $user_agent: 'Mozilla/5.0 (X11; Linux "quoted") Gecko\\back é',
    });
    expect(lines[7]).toMatchObject(DOWNLOAD);
  });

  test("counts GETs that were answered with 2xx or 3xx, and tells how many requests were others", async () => {
    const { lines, skipped } = await read(logOf("nginx.txt"), "combined");
    expect(lines.map((line) => line !== "")).toEqual([true, true, false, false, false, true, true, true]);
    expect(skipped).toBe(3);
  });

  test("with a path: other paths are no downloads, and variables are the event's", async () => {
    const path = "/releases/{name}-{version}.tar.gz";
    const { lines, skipped } = await read(logOf("nginx.txt"), "combined", path);
    expect(lines[0]).toMatchObject({ name: "tool", version: "1.4.0", $version: "1.4.0" });
    expect(lines[0]).not.toHaveProperty("file");
    expect(lines[5]).toBe("");
    expect(skipped).toBe(4);
  });

  test("equal lines are two events, and the same log has the same ids again", async () => {
    const line = logOf("nginx.txt").split("\n")[0] ?? "";
    const once = await read(`${line}\n${line}\n`, "combined");
    const longer = await read(`${line}\n${line}\n${line}\n`, "combined");
    const ids = (each: Read) => each.lines.map((event) => (event as Record<string, string>).$unique_id);
    expect(new Set(ids(longer)).size).toBe(3);
    expect(ids(longer).slice(0, 2)).toEqual(ids(once));
  });

  test("a line of another format stays as it is, for the server to refuse, at its place", async () => {
    const good = logOf("nginx.txt").split("\n")[0];
    const { lines } = await read(`${good}\nnot a log line\n\n${good}`, "combined");
    const seen = lines.map((line) => (typeof line === "string" ? line : "event"));
    expect(seen).toEqual(["event", "not a log line", "", "event"]);
  });

  test.each([
    ["a zone behind UTC", "- - -", "-0730", "200 2326", "-07:30"],
    ["the format common", "h - frank", "-0700", "304 -", "-07:00"],
  ])("reads %s", async (_, who, zone, answer, offset) => {
    const line = `${who} [10/Oct/2000:13:55:36 ${zone}] "GET /a HTTP/1.0" ${answer}`;
    const { lines } = await read(line, "combined");
    expect(lines).toMatchObject([{ $time: `2000-10-10T13:55:36${offset}`, file: "/a" }]);
  });
});

test("a log of CloudFront, with the columns that its head names", async () => {
  const { lines, skipped } = await read(logOf("cloudfront.txt"), "cloudfront");
  expect(lines).toMatchObject([
    "",
    "",
    {
      $time: "2019-12-04T21:02:31Z",
      $remote_address: "192.0.2.100",
      $user_agent: expect.stringMatching(
        /^Mozilla\/5\.0 \(Windows NT 10\.0; Win64; x64\) AppleWebKit/,
      ) as string,
      file: "/index.html",
    },
    "",
  ]);
  expect(skipped).toBe(1);
});

test("a log of CloudFront with other columns", async () => {
  const text =
    "#Fields: time date sc-status cs-uri-stem cs-method c-ip cs-uri-query\n01:02:03\t2026-11-01\t200\t/a/1.2\tGET\t192.0.2.1\tx=1\n";
  const { lines } = await read(text, "cloudfront", "/a/{version}?x={x}");
  expect(lines[1]).toMatchObject({ $time: "2026-11-01T01:02:03Z", version: "1.2", x: "1" });
});

test("a log of S3: reads of objects that were there", async () => {
  const { lines, skipped } = await read(logOf("s3.txt"), "s3", "/releases/tool-{version}.tar.gz");
  expect(lines.slice(0, 2)).toEqual(["", ""]);
  expect(lines[2]).toMatchObject({
    $time: "2019-02-06T00:02:10+00:00",
    $remote_address: "198.51.100.7",
    $referrer: "https://example.org/",
    $user_agent: "curl/8.5.0",
    $version: "1.4.0",
  });
  expect(lines[3]).toBe("");
  expect(skipped).toBe(3);
});
