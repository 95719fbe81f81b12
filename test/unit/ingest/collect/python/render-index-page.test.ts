import { Parser } from "htmlparser2";
import { describe, expect, it, test } from "vitest";
import { renderIndexHtml, renderIndexJson } from "../../../../../ingest/collect/python/render-index-page.js";

const HASH = "ab".repeat(32);

function pageOf(rest: Record<string, unknown>) {
  return {
    kind: "project",
    rest: {},
    files: [{ filename: "web-1.0.zip", url: "https://cdn.example/web-1.0.zip#x", rest }],
  } as const;
}

function attributesOf(html: string): Record<string, string>[] {
  const found: Record<string, string>[] = [];
  const parser = new Parser({ onopentag: (tag, attributes) => void (tag === "a" && found.push(attributes)) });
  parser.end(html);
  return found;
}

describe("a file in HTML", () => {
  test.each([
    [{}, { href: "/simple/web/web-1.0.zip" }],
    [{ hashes: { md5: "1", sha256: HASH } }, { href: `/simple/web/web-1.0.zip#sha256=${HASH}` }],
    [{ hashes: {} }, { href: "/simple/web/web-1.0.zip" }],
    [{ hashes: { md5: "1" } }, { href: "/simple/web/web-1.0.zip#md5=1" }],
    [{ "requires-python": '>=3.8,<4 & "x"' }, { "data-requires-python": '>=3.8,<4 & "x"' }],
    [{ yanked: true }, { "data-yanked": "" }],
    [{ yanked: "é <broken> 🙂" }, { "data-yanked": "é <broken> 🙂" }],
    [{ "core-metadata": true }, { "data-core-metadata": "true", "data-dist-info-metadata": "true" }],
    [{ "dist-info-metadata": { sha256: HASH } }, { "data-core-metadata": `sha256=${HASH}` }],
    [{ "core-metadata": {} }, { "data-core-metadata": "true" }],
    [{ "gpg-sig": false }, { "data-gpg-sig": "false" }],
  ])("of which %j is known has %j", (rest, attributes) => {
    expect(attributesOf(renderIndexHtml(pageOf(rest), "web"))).toEqual([expect.objectContaining(attributes)]);
  });

  it("says nothing of what is not so", () => {
    const html = renderIndexHtml(
      pageOf({ yanked: false, "core-metadata": false, "requires-python": null }),
      "web",
    );
    expect(attributesOf(html)).toEqual([{ href: "/simple/web/web-1.0.zip" }]);
  });

  it("is ASCII, so that it reads the same in every charset", () => {
    const html = renderIndexHtml(pageOf({ yanked: "é\ud800\n🙂", "requires-python": "\u0000" }), "web");
    expect(html).toMatch(/^[\x0a\x20-\x7e]*$/);
  });
});

it("names and links the projects of a root page", () => {
  const page = { kind: "root", rest: {}, projects: [{ name: "zope.interface", rest: {} }] } as const;
  expect(renderIndexHtml(page, "")).toBe(
    '<!DOCTYPE html><html><body>\n<a href="/simple/zope-interface/">zope.interface</a><br>\n</body></html>',
  );
  expect(JSON.parse(renderIndexJson({ ...page, rest: { meta: { "api-version": "1.0" } } }, ""))).toEqual({
    meta: { "api-version": "1.0" },
    projects: [{ name: "zope.interface" }],
  });
});

it("hands on in JSON what it does not know, with links to this host", () => {
  const page = {
    kind: "project",
    rest: { meta: { "api-version": "1.4" }, name: "Web", versions: ["1.0"] },
    files: [
      { filename: "web-1.0+cpu.zip", url: "https://cdn.example/x.zip#y", rest: { size: 7, provenance: "p" } },
    ],
  } as const;
  expect(JSON.parse(renderIndexJson(page, "web"))).toEqual({
    meta: { "api-version": "1.4" },
    name: "web",
    versions: ["1.0"],
    files: [
      {
        filename: "web-1.0+cpu.zip",
        url: "/simple/web/web-1.0%2Bcpu.zip",
        hashes: {},
        size: 7,
        provenance: "p",
      },
    ],
  });
});
