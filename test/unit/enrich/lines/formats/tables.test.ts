import { describe, expect, test } from "vitest";
import type { ImportFormat } from "../../../../../schemas/records/import-format.js";
import type { RawChunk } from "../../../../../schemas/records/raw-chunk.js";
import { decodeBody, fixture, type Read } from "./decode-body.js";

const has = (fields: Record<string, unknown>) => expect.objectContaining(fields) as Read;

function read(format: ImportFormat, artifactKind: RawChunk["artifactKind"] = "package"): Read[] {
  const [header = "", ...rows] = fixture(`formats/${format}.txt`).split("\n");
  return decodeBody(rows.join("\n"), { format, header }, { artifactKind });
}

describe("raw data of Docker Hub", () => {
  test("has a pull by row, with its tag, country and client, and a version check is none", () => {
    expect(read("docker-dvp")).toEqual([
      has({
        $time: "2026-11-01 08:00:00",
        $version: "1.4.0",
        $country: "DE",
        $user_agent: "docker/27.3.1",
        domain: "example.com",
        type: "business",
      }),
      has({ $version: "latest", $user_agent: "containerd/1.7.24", host: "aws" }),
      has({ $country: "FR", $user_agent: "cri-o/1.30.3" }),
      "skipped",
      has({ $version: "1.4.0", $user_agent: "docker/28.1.0" }),
    ]);
    const [, , byDigest, , unknown] = read("docker-dvp");
    expect(byDigest).not.toHaveProperty("$version");
    for (const name of ["$country", "type", "domain", "host"]) expect(unknown).not.toHaveProperty(name);
  });

  test("names the package by its repository where the path names none", () => {
    expect(read("docker-dvp", "any")[0]).toMatchObject({ $package: "web" });
    expect(read("docker-dvp")[0]).not.toHaveProperty("$package");
  });

  test("may have its columns in another order, and spelled with underscores", () => {
    const header = "TIMESTAMP,user_agent_tool,ACTION,Tag";
    const rows = decodeBody("2026-11-01,docker,pull_by_tag,1.0", { format: "docker-dvp", header });
    expect(rows).toEqual([has({ $time: "2026-11-01", $user_agent: "docker", $version: "1.0" })]);
  });
});

describe("an action in raw data of Docker Hub", () => {
  const row = (action: string) =>
    decodeBody(`${action},2026-11-01,1.0`, { format: "docker-dvp", header: "action,timestamp,tag" });

  test.each(["pull_by_tag", "pull_by_digest", "PULL_BY_TAG", "Pull by tag", "Pull by digest"])(
    "counts: %s",
    (action) => expect(row(action)).toEqual([has({ $version: "1.0" })]),
  );

  test.each(["version_check", "VERSION_CHECK", "Version check", "version check", " version_check "])(
    "is no pull: %j",
    (action) => expect(row(action)).toEqual(["skipped"]),
  );

  test.each(["", "push", "null", "pull", "1"])("is refused: %j", (action) => {
    expect(row(action)).toEqual([`action must be pull_by_tag, pull_by_digest or version_check: ${action}`]);
  });
});

test.each([
  ["docker-dvp", "action,timestamp,repository", "pull_by_tag,2026-11-01,"],
  ["scarf-csv", "id,type,time,package,pixel", "1,binary-download,2026-11-01,,"],
  ["pypi-bigquery", "", '{"timestamp":1,"project":"","file":{"filename":"a","project":""}}'],
] as const)(
  "a row of %s without a name says that nothing names what it belongs to",
  (format, header, row) => {
    expect(decodeBody(row, { format, header }, { artifactKind: "any" })).toEqual([
      "$package or $pixel is required",
    ]);
  },
);

describe("rows of the download table of PyPI", () => {
  const rows = () =>
    decodeBody(fixture("formats/pypi-bigquery.txt"), { format: "pypi-bigquery" }) as Record<string, string>[];

  test("have version, country, file and the client as it called itself", () => {
    expect(rows()).toEqual([
      has({
        $time: "2026-11-01 08:00:00Z",
        $version: "1.4.0",
        $country: "DE",
        file: "acme_tool-1.4.0-py3-none-any.whl",
        type: "bdist_wheel",
        python: "3.12.3",
      }),
      has({ $country: "US", $user_agent: expect.stringMatching(/^pip\/24\.3\.1 \{.*"ci":true/) as string }),
      has({ $user_agent: "bandersnatch/6.1.0", type: "sdist" }),
      has({ $user_agent: "poetry/1.8.3 CPython/3.11.9 Darwin/23.5.0" }),
      has({ $time: 1_793_523_600, $country: "GB" }),
    ]);
  });

  test.each([
    ["2026-11-01 08:00:00.219999 UTC", "2026-11-01 08:00:00.219999Z"],
    ["1.793523600219E9", 1_793_523_600.219],
    ["1.793523600219e+09", 1_793_523_600.219],
    ["1793523600219999", 1_793_523_600_219],
  ])("have the time %s", (written, $time) => {
    const row = JSON.stringify({ timestamp: written, file: { filename: "a.whl" } });
    expect(decodeBody(row, { format: "pypi-bigquery" })).toEqual([has({ $time })]);
  });

  test.each([
    [true, true],
    ["true", true],
    ["false", "false"],
    [false, false],
  ])("say that a build runs with ci %j", (written, ci) => {
    const details = { installer: { name: "pip", version: "24.0" }, ci: written };
    const row = JSON.stringify({ timestamp: "2026-11-01", file: { filename: "a.whl" }, details });
    const agent = `pip/24.0 ${JSON.stringify({ ...details, ci })}`;
    expect(decodeBody(row, { format: "pypi-bigquery" })).toEqual([has({ $user_agent: agent })]);
  });

  test("name the package by their project where the path names none, and are told from other objects", () => {
    const [row = ""] = fixture("formats/pypi-bigquery.txt").split("\n");
    const read = (text: string) => decodeBody(text, { format: "pypi-bigquery" }, { artifactKind: "any" });
    expect(read(row)[0]).toMatchObject({ $package: "acme-tool" });
    for (const other of ["{}", "[]", '{"file":"x"}', row.replace('"filename"', '"name"')])
      expect(read(other)).toEqual(["Not a valid line of the format pypi-bigquery"]);
  });
});

describe("an export of Scarf", () => {
  test("has an event by row, under its id, with country and variables", () => {
    const [first, second, again, view, bare] = read("scarf-csv");
    expect(first).toEqual(
      has({
        $unique_id: "9a0c6d51-0001-4000-8000-000000000001",
        $time: "2026-11-01 08:00:00.123456",
        $type: "binary-download",
        $version: "1.4.0",
        $user_agent: "curl/8.5.0",
        $country: "DE",
        platform: "linux/amd64",
        origin_company: "Example",
        origin_domain: "example.com",
      }),
    );
    expect(second).toEqual(has({ $user_agent: "Mozilla/5.0 (X11; Linux x86_64) Gecko, like" }));
    expect(again).toEqual(second);
    expect(view).toBe("skipped");
    expect(bare).toEqual(has({ $version: "1.4.1" }));
    expect(bare).not.toHaveProperty("$country");
  });

  test("has the views of pixels by their type where no column names the pixel", () => {
    const table = { format: "scarf-csv", header: "id,type,package,version,time" } as const;
    const rows =
      "1,pixel-fetch,,,2026-11-01\n2,pixel-fetch,web,,2026-11-01\n3,file-download,web,1.0,2026-11-01";
    const download = has({ $unique_id: "3" });
    const views = [has({ $unique_id: "1" }), has({ $unique_id: "2" })];
    expect(decodeBody(rows, table, { artifactKind: "package" })).toEqual(["skipped", "skipped", download]);
    expect(decodeBody(rows, table, { artifactKind: "pixel" })).toEqual([...views, "skipped"]);
    const none = "$package or $pixel is required";
    expect(decodeBody(rows, table, { artifactKind: "any" })).toEqual([none, none, download]);
  });

  test("has the rows of pixels for a pixel, and names what each row belongs to where the path names nothing", () => {
    const view = has({ $type: "pixel-fetch", $referrer: "https://example.org/docs" });
    expect(read("scarf-csv", "pixel")).toEqual(["skipped", "skipped", "skipped", view, "skipped"]);
    const all = read("scarf-csv", "any");
    expect(all[0]).toMatchObject({ $package: "tool" });
    expect(all[3]).toMatchObject({ $pixel: "readme" });
    expect(all[3]).not.toHaveProperty("$package");
  });
});
