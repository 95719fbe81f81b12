import { describe, expect, test } from "vitest";
import type { ImportFormat } from "../../../../../schemas/records/import-format.js";
import { decodeBody, fixture } from "./decode-body.js";

const HEX = "0".repeat(64);
const SIDECARS =
  ".asc .sig .md5 .sha256 .metadata .provenance .sigstore.json .intoto.jsonl .crt .pem .sbom".split(" ");

/** A line of each format of logs about a path. */
const LINES: Partial<Record<ImportFormat, (path: string) => string>> = {
  combined: (path) => `192.0.2.1 - - [01/Nov/2026:08:00:00 +0000] "GET ${path} HTTP/1.1" 200 1 "-" "curl/8"`,
  cloudfront: (path) =>
    `2026-11-01\t08:00:00\tFRA2\t1\t192.0.2.1\tGET\tx.cloudfront.net\t${path}\t200\t-\tcurl/8\t-`,
  s3: (path) =>
    `o b [01/Nov/2026:08:00:00 +0000] 192.0.2.1 - R REST.GET.OBJECT ${path.slice(1)} "GET ${path} HTTP/1.1" 200 - 1 1 1 1 "-" "curl/8" -`,
  caddy: (path) =>
    JSON.stringify({ ts: 1.5e9, status: 200, request: { method: "GET", uri: path, remote_ip: "192.0.2.1" } }),
  traefik: (path) =>
    JSON.stringify({
      StartUTC: "2026-11-01T08:00:00Z",
      DownstreamStatus: 200,
      RequestMethod: "GET",
      RequestPath: path,
      ClientHost: "192.0.2.1",
    }),
};

describe.each(Object.entries(LINES))("a log of %s", (name, lineOf) => {
  const format = name as ImportFormat;
  const read = (path: string, pattern: string) => decodeBody(lineOf(path), { format, path: pattern });
  const event = expect.objectContaining({ $remote_address: "192.0.2.1" }) as Record<string, unknown>;

  test.each(["", "/releases/{file}", "/releases/tool-{version}"])(
    "counts no sidecars, with the path %j",
    (pattern) => {
      for (const ending of SIDECARS)
        expect(read(`/releases/tool-1.4.0.tgz${ending}`, pattern)).toEqual(["skipped"]);
      expect(read("/releases/tool-1.4.0.tgz", pattern)).toEqual([event]);
    },
  );

  test("counts those that the path names", () => {
    for (const ending of SIDECARS)
      expect(read(`/releases/tool-1.4.0.tgz${ending}`, `/releases/{file}.tgz${ending}`)).toEqual([event]);
  });
});

test.each(SIDECARS)("a row of PyPI's table is no download of %s", (ending) => {
  const [row = ""] = fixture("formats/pypi-bigquery.txt").split("\n");
  const format = "pypi-bigquery";
  for (const key of ['"filename":"', '"url":"/packages/ab/cd/'])
    expect(decodeBody(row.replace(new RegExp(`(${key}[^"]*)`), `$1${ending}`), { format })).toEqual([
      "skipped",
    ]);
});

test.each([`sha256-${HEX}.sig`, `sha256-${HEX}.att`, `sha256-${HEX}.sbom`, `sha256-${HEX}`])(
  "a row about the tag %s is no pull",
  (tag) => {
    const dvp = { format: "docker-dvp", header: "action,timestamp,tag" } as const;
    expect(decodeBody(`pull_by_tag,2026-11-01,${tag}`, dvp)).toEqual(["skipped"]);
    const scarf = { format: "scarf-csv", header: "id,type,time,package,pixel,version" } as const;
    expect(decodeBody(`1,manifest-fetch,2026-11-01,web,,${tag}`, scarf)).toEqual(["skipped"]);
  },
);

test.each(SIDECARS)("a row of Scarf whose route captured a file %s is no download", (ending) => {
  const scarf = { format: "scarf-csv", header: "id,type,time,package,pixel,variables" } as const;
  expect(decodeBody(`1,binary-download,2026-11-01,tool,,file=tool.tgz${ending}`, scarf)).toEqual(["skipped"]);
});
