import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Ask } from "../../../../../api/features/sources/registries/registry.js";
import { UnexpectedAnswer } from "../../../../../api/features/sources/registries/registry.js";
import { REGISTRIES } from "../../../../../api/features/sources/registries/registries.js";
import { SOURCE_KINDS, type SourceKind } from "../../../../../schemas/contracts/source.js";

const TODAY = "2026-08-04";

function fixture(name: string): unknown {
  return JSON.parse(
    readFileSync(new URL(`../../../../fixtures/sources/${name}.json`, import.meta.url), "utf8"),
  );
}

function asksOf(kind: SourceKind, name: string, hasToken = false): Ask[] {
  return REGISTRIES[kind].ask({ name, today: TODAY, hasToken });
}

function readingOf(kind: SourceKind, name: string, { answer, ask = 0 }: { answer: unknown; ask?: number }) {
  const asked = { name, today: TODAY, hasToken: true };
  const registry = REGISTRIES[kind];
  return registry.read(answer, registry.ask(asked)[ask] as Ask, asked);
}

describe("asks for all of the history that a registry has", () => {
  test.each<[SourceKind, string, string]>([
    ["npm", "@acme/tool", "/downloads/range/2025-02-03:2026-08-03/@acme/tool"],
    ["pypi", "Acme.Tools", "/api/packages/acme-tools/overall?mirrors=false"],
    ["docker-hub", "acme/web", "/v2/namespaces/acme/repositories/web"],
    ["docker-hub", "nginx", "/v2/namespaces/library/repositories/nginx"],
    ["github-releases", "acme/tool", "/repos/acme/tool/releases?per_page=100&page=1"],
    ["crates", "acme", "/api/v1/crates/acme/downloads?include=versions"],
    ["rubygems", "acme", "/api/v1/versions/acme.json"],
    ["homebrew", "acme@1", "/api/formula/acme%401.json"],
  ])("%s %s", (kind, name, path) => expect(asksOf(kind, name)[0]?.path).toBe(path));

  test("asks GitHub for views and clones only with a token, and goes on without them", () => {
    expect(asksOf("github-releases", "acme/tool")).toHaveLength(1);
    expect(asksOf("github-releases", "acme/tool", true).slice(1)).toEqual([
      { path: "/repos/acme/tool/traffic/views", isOptional: true },
      { path: "/repos/acme/tool/traffic/clones", isOptional: true },
    ]);
  });
});

describe("reads the documented answer", () => {
  const count = (date: string, value: number, more: object = {}) => ({
    date,
    metric: "downloads",
    value,
    ...more,
  });

  test("npm: a day that was not counted yet is 0", () => {
    const { counts } = readingOf("npm", "@acme/tool", { answer: fixture("npm") });
    expect(counts).toEqual([count("2026-08-01", 120), count("2026-08-02", 98), count("2026-08-03", 0)]);
  });

  test("PyPI: without known mirrors", () => {
    const { counts } = readingOf("pypi", "acme-tools", { answer: fixture("pypi") });
    expect(counts).toEqual([count("2026-08-01", 312), count("2026-08-02", 287)]);
  });

  test("Docker Hub: a counter", () => {
    const { counters } = readingOf("docker-hub", "acme/web", { answer: fixture("docker-hub") });
    expect(counters).toEqual([{ key: "pulls", metric: "pulls", value: 104_882 }]);
  });

  test("GitHub: a counter for each asset, with the tag as version", () => {
    const { counters, releases, more } = readingOf("github-releases", "acme/tool", {
      answer: fixture("github-releases"),
    });
    const since = { "v1.1.0": "2026-08-01T09:00:00Z", "v1.0.0": "2026-05-01T12:30:00Z" };
    const asset = (id: number, version: keyof typeof since, value: number) => ({
      key: `asset ${id}`,
      version,
      metric: "downloads",
      value,
      since: since[version],
    });
    expect(counters).toEqual([asset(21, "v1.1.0", 40), asset(22, "v1.1.0", 5), asset(11, "v1.0.0", 900)]);
    expect(more).toBeUndefined();
    const published = (version: string, date: string) => ({
      version,
      date,
      url: `https://github.com/acme/tool/releases/tag/${version}`,
      key: `github acme/tool ${version}`,
    });
    expect(releases).toEqual([published("v1.1.0", "2026-08-01"), published("v1.0.0", "2026-05-01")]);
  });

  test("GitHub: the next page after a full one, ten at most", () => {
    const [release] = fixture("github-releases") as object[];
    const full = Array.from({ length: 100 }, () => release);
    const { more } = readingOf("github-releases", "acme/tool", { answer: full });
    expect(more).toEqual({ path: "/repos/acme/tool/releases?per_page=100&page=2" });
    const asked = { name: "acme/tool", today: TODAY, hasToken: false };
    const last = { path: "/repos/acme/tool/releases?per_page=100&page=10" };
    expect(REGISTRIES["github-releases"].read(full, last, asked).more).toBeUndefined();
  });

  test("GitHub: views by day", () => {
    const { counts } = readingOf("github-releases", "acme/tool", { answer: fixture("github-views"), ask: 1 });
    expect(counts).toEqual([
      { date: "2026-08-01", metric: "views", value: 93 },
      { date: "2026-08-02", metric: "views", value: 80 },
    ]);
  });

  test("crates.io: by version, and the others without one", () => {
    const { counts } = readingOf("crates", "acme", { answer: fixture("crates") });
    expect(counts).toEqual([
      count("2026-08-01", 30, { version: "1.0.0" }),
      count("2026-08-01", 12, { version: "1.1.0" }),
      count("2026-08-02", 15, { version: "1.1.0" }),
      count("2026-08-01", 7),
    ]);
  });

  test("RubyGems: a counter for each version and platform", () => {
    const { counters, releases } = readingOf("rubygems", "acme", { answer: fixture("rubygems") });
    // Of two versions the fixture has no date.
    expect(releases).toEqual([
      {
        version: "2.0.0",
        date: "2026-07-01",
        url: "https://rubygems.org/gems/acme/versions/2.0.0",
        key: "rubygems acme 2.0.0",
      },
    ]);
    expect(counters?.map(({ key, version, value }) => [key, version, value])).toEqual([
      ["2.0.0 ruby", "2.0.0", 88],
      ["2.0.0 x86_64-linux", "2.0.0", 12],
      ["1.9.0 ruby", "1.9.0", 4_100],
    ]);
  });

  test("Homebrew: one count for the 30 days that end yesterday", () => {
    const { counts } = readingOf("homebrew", "acme", { answer: fixture("homebrew") });
    expect(counts).toEqual([{ date: "2026-08-03", metric: "installs", value: 413 }]);
  });
});

describe("refuses an answer of another shape", () => {
  const hostile: unknown[] = [
    null,
    7,
    "",
    [],
    {},
    [null],
    [{ tag_name: 3 }],
    { downloads: [{ day: "x", downloads: -1 }] },
  ];
  const shapeless = hostile.filter((answer) => !(Array.isArray(answer) && answer.length === 0));

  test.each(SOURCE_KINDS)("%s", (kind) => {
    for (const answer of shapeless)
      expect(() => readingOf(kind, REGISTRIES[kind].name.example, { answer })).toThrow(UnexpectedAnswer);
  });

  test.each([1e300, -1, 1.5, "12", null])("a count of %s", (downloads) => {
    const answer = { downloads: [{ day: "2026-08-01", downloads }] };
    expect(() => readingOf("npm", "tool", { answer })).toThrow(UnexpectedAnswer);
  });
});

describe("deploy/docs/how-to/sources.md describes", () => {
  const page = readFileSync("deploy/docs/how-to/sources.md", "utf8");
  test.each(SOURCE_KINDS)("%s", (kind) => expect(page).toContain(`\n| \`${kind}\` |`));
});

describe("takes a name as the registry writes it, and nothing that leads elsewhere", () => {
  test.each(SOURCE_KINDS)("%s", (kind) => {
    const { pattern, example } = REGISTRIES[kind].name;
    expect(example).toMatch(pattern);
    for (const name of [
      "",
      "..",
      "../x",
      "a/../b",
      "a b",
      "a?b",
      "a#b",
      "a%2fb",
      "//host",
      "a/b/c",
      "a\n",
      "é",
      "@/x",
    ])
      expect.soft(pattern.test(name), `${kind} ${name}`).toBe(false);
  });
});
