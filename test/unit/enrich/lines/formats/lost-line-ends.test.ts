import { describe, expect, test } from "vitest";
import type { ImportFormat } from "../../../../../schemas/records/import-format.js";
import { decodeBody, fixture } from "./decode-body.js";

const GLUED = "The line contains several requests or parts of requests: line breaks were lost";

/** What may stand where a line end was. */
const BETWEEN = ["", " ", "\r", "\r\r", "\t", "\\n", "\u2028", "\u0085", "\v", "\0"];

describe("two requests in one line are not taken for one", () => {
  test.each([
    ["combined", "access-logs/nginx.txt"],
    ["combined", "access-logs/apache-vhost.txt"],
    ["s3", "access-logs/s3.txt"],
  ] as const)("%s: %s", (format, name) => {
    const lines = fixture(name).trim().split("\n");
    for (const between of BETWEEN)
      expect(decodeBody(lines.slice(-2).join(between), { format })).toEqual([GLUED]);
  });

  test("cloudfront", () => {
    const [version = "", header = "", ...rows] = fixture("access-logs/cloudfront.txt").trim().split("\n");
    for (const between of BETWEEN) {
      const glued = [version, header, ...rows].join(between);
      expect(decodeBody(glued, { format: "cloudfront" })).toEqual([GLUED]);
      for (const known of [header, ""])
        expect(decodeBody(rows.join(between), { format: "cloudfront", header: known })).toEqual([GLUED]);
    }
  });

  test.each(["caddy", "traefik", "ndjson", "pypi-bigquery"] as const)("%s", (format) => {
    const lines: Partial<Record<ImportFormat, string>> = { ndjson: '{"$time":"2026-11-10"}' };
    const line = lines[format] ?? fixture(`formats/${format}.txt`).trim().split("\n").at(-1)!;
    for (const between of BETWEEN)
      expect(decodeBody(line + between + line, { format })).toEqual([expect.stringMatching(/^Not a /)]);
  });

  test.each(["csv", "docker-dvp", "scarf-csv"] as const)("%s", (format) => {
    const own = { header: "$time,$version", row: "2026-11-10,1.4.0" };
    const [header = "", row = ""] =
      format === "csv" ? [own.header, own.row] : fixture(`formats/${format}.txt`).split("\n");
    for (const between of [...BETWEEN, ","])
      expect(decodeBody(row + between + row, { format, header })).toEqual([
        expect.stringMatching(/^Invalid CSV row/),
      ]);
  });

  test("also where a cell for each would fit", () => {
    const header = "$time,channel,$version";
    expect(decodeBody("2026-11-10,a\r2026-11-11,b", { format: "csv", header })).toEqual([
      "Invalid CSV row: it contains a CR; lines must end with LF or CRLF",
    ]);
    expect(decodeBody('2026-11-10,"a\rb",1.4.0', { format: "csv", header })).toMatchObject([
      { channel: "a\rb" },
    ]);
  });
});

test("a line whose end is missing does not lend its client to the next", () => {
  const [line = ""] = fixture("access-logs/nginx.txt").split("\n");
  for (let length = 1; length < line.length; length++) {
    const glued = line.slice(0, length) + line.replace("127.0.0.1", "192.0.2.7");
    const [read = ""] = decodeBody(glued, { format: "combined" });
    const client = typeof read === "string" ? "refused" : read.$remote_address;
    expect([glued, ["refused", "192.0.2.7"]]).toEqual([glued, expect.arrayContaining([client])]);
  }
});

test.each([
  ["combined", '[10/Nov/2026:08:00:00 +0000] "'],
  ["combined", '192.0.2.1 - - [10/Nov/2026:08:00:00 +0000] "GET /a HTTP/1.1" 200 1 '],
  ["combined", "[["],
  ["combined", ', "'],
  ["combined", String.raw`\"`],
  ["s3", 'o b [10/Nov/2026:08:00:00 +0000] "'],
  ["cloudfront", "2026-11-10\t"],
  ["cloudfront", "#%"],
  ["caddy", '{"log":"'],
  ["csv", '",'],
] as const)("a hostile line of %s is read in linear time: %s", (format, part) => {
  const header = "$time,$version";
  const line = `192.0.2.1 - - ${part.repeat(2 ** 20 / part.length - 20)}`;
  for (const text of [line, line.slice(14)])
    expect(decodeBody(text, { format, header, path: "/{+a}.tgz" })).toEqual([expect.any(String)]);
});
