import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { ImportFormat } from "../../../../../schemas/records/import-format.js";
import { decodeBody, fixture } from "./decode-body.js";

const logOf = (name: string) => fixture(`access-logs/${name}.txt`);
const read = (text: string, format: ImportFormat, path = "") => decodeBody(text, { format, path });

const DOWNLOAD = {
  file: "/releases/tool-1.4.0.tar.gz",
  $time: "2026-11-23T00:56:17+00:00",
  $remote_address: "127.0.0.1",
  $user_agent: "curl/7.88.1",
};

describe("a log in the format combined", () => {
  test.each(["nginx", "apache", "apache-vhost"])("of a real server, %s", (name) => {
    const lines = read(logOf(name), "combined");
    expect(lines).toHaveLength(8);
    expect(lines[0]).toMatchObject(DOWNLOAD);
    expect(lines[1]).toMatchObject({
      file: DOWNLOAD.file,
      $referrer: 'https://example.org/a?b="c"',
      $user_agent: 'Mozilla/5.0 (X11; Linux "quoted") Gecko\\back é',
    });
    expect(lines[7]).toMatchObject(DOWNLOAD);
  });

  test("counts GETs that were answered with 2xx or 3xx", () => {
    const lines = read(logOf("nginx"), "combined");
    expect(lines.map((line) => line !== "skipped")).toEqual([
      true,
      true,
      false,
      false,
      false,
      true,
      true,
      true,
    ]);
  });

  test("with a path: other paths are no downloads, and variables are the event's", () => {
    const lines = read(logOf("nginx"), "combined", "/releases/{name}-{version}.tar.gz");
    expect(lines[0]).toMatchObject({ name: "tool", version: "1.4.0", $version: "1.4.0" });
    expect(lines[0]).not.toHaveProperty("file");
    expect(lines[5]).toBe("skipped");
  });

  test("the id of a line is made of its number and its text, without its end", () => {
    const [line = ""] = logOf("nginx").split("\n");
    const idOf = (number: number) =>
      createHash("sha256").update(`${number}\n${line}`).digest("hex").slice(0, 32);
    for (const end of ["\n", "\r\n"])
      expect(read([line, "", line].join(end), "combined")).toMatchObject([
        { $unique_id: idOf(1) },
        { $unique_id: idOf(3) },
      ]);
  });

  test("a line of another format is refused, at its place", () => {
    const [good] = logOf("nginx").split("\n");
    const lines = read(`${good}\nnot a log line\n\n${good}`, "combined");
    const seen = lines.map((line) => (typeof line === "string" ? line : "event"));
    expect(seen).toEqual(["event", "Not a valid line of the format combined", "event"]);
  });

  test.each([
    ["a zone behind UTC", "192.0.2.1 - -", "-0730", "200 2326", "-07:30"],
    ["the format common", "192.0.2.1 - frank", "-0700", "304 -", "-07:00"],
  ])("reads %s", (_, who, zone, answer, offset) => {
    const line = `${who} [10/Oct/2000:13:55:36 ${zone}] "GET /a HTTP/1.0" ${answer}`;
    expect(read(line, "combined")).toMatchObject([{ $time: `2000-10-10T13:55:36${offset}`, file: "/a" }]);
  });
});

const ADDRESSES = [
  "::1",
  "2001:db8::1",
  "2600:1:2:3:4:5:0:10",
  "2001:4860:4860::8888",
  "fe80::a",
  "192.0.2.1",
];

describe.each(ADDRESSES)("the address %s", (address) => {
  test.each([
    ["alone", address],
    ["in brackets", `[${address}]`],
    ["after a virtual host", `example.org:80 ${address}`],
    ["after a virtual host that is an IPv6 address", `[2001:db8::2]:443 ${address}`],
  ])("is read %s", (_, begin) => {
    const line = `${begin} - - [01/Nov/2026:08:00:00 +0000] "GET /a HTTP/1.1" 200 1 "-" "curl/8"`;
    expect(read(line, "combined")).toMatchObject([{ $remote_address: address, $user_agent: "curl/8" }]);
  });
});

test("a log of CloudFront, with the columns that its head names", () => {
  expect(read(logOf("cloudfront"), "cloudfront")).toMatchObject([
    "skipped",
    "skipped",
    {
      $time: "2019-12-04T21:02:31Z",
      $remote_address: "192.0.2.100",
      $user_agent: expect.stringMatching(
        /^Mozilla\/5\.0 \(Windows NT 10\.0; Win64; x64\) AppleWebKit/,
      ) as string,
      file: "/index.html",
    },
    "skipped",
  ]);
});

test("a log of CloudFront with other columns, named among its lines or by its chunk", () => {
  const header = "#Fields: time date sc-status cs-uri-stem cs-method c-ip cs-uri-query";
  const line = "01:02:03\t2026-11-01\t200\t/a/1.2\tGET\t192.0.2.1\tx=1";
  const event = { $time: "2026-11-01T01:02:03Z", version: "1.2", x: "1" };
  const path = "/a/{version}?x={x}";
  expect(read(`${header}\n${line}\n`, "cloudfront", path)).toMatchObject(["skipped", event]);
  expect(decodeBody(line, { format: "cloudfront", path, header })).toMatchObject([event]);
});

test("a log of S3: reads of objects that were there", () => {
  const lines = read(logOf("s3"), "s3", "/releases/tool-{version}.tar.gz");
  expect(lines.slice(0, 2)).toEqual(["skipped", "skipped"]);
  expect(lines[2]).toMatchObject({
    $time: "2019-02-06T00:02:10+00:00",
    $remote_address: "198.51.100.7",
    $referrer: "https://example.org/",
    $user_agent: "curl/8.5.0",
    $version: "1.4.0",
  });
  expect(lines[3]).toBe("skipped");
});

const AGENTS = ['say "hi"', '"quoted"', 'a" "b', '"', 'Mozilla/5.0 "x" y', '"begins', 'ends"', '" - "'];

test.each(AGENTS)("the user agent %j of a log of S3, which escapes no quotes", (agent) => {
  const begin =
    'o b [01/Nov/2026:08:00:00 +0000] 192.0.2.1 - R REST.GET.OBJECT a "GET /a HTTP/1.1" 200 - 1 1 1 1';
  for (const end of [
    "",
    " -",
    " - id= SigV4 ECDHE-RSA-AES128-GCM-SHA256 AuthHeader b.s3.amazonaws.com TLSV1.2 - -",
  ]) {
    const line = `${begin} "https://example.org/"a"" "${agent}"${end}`;
    expect(read(line, "s3")).toMatchObject([{ $user_agent: agent, $referrer: 'https://example.org/"a"' }]);
  }
});
