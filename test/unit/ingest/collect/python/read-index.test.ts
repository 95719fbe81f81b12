import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import type { IndexPage } from "../../../../../ingest/collect/python/index-page.js";
import { readIndexHtml, readIndexJson } from "../../../../../ingest/collect/python/read-index.js";

const URL_OF_PAGE = "https://index.example/simple/web/";

function readHtml(html: string, kind: IndexPage["kind"] = "project", bytesPerPart = html.length || 1) {
  return readIndexHtml(cut(Buffer.from(html), bytesPerPart), { kind, url: URL_OF_PAGE });
}

async function* cut(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

function readJson(page: unknown, kind: IndexPage["kind"] = "project") {
  return readIndexJson(Buffer.from(JSON.stringify(page)), { kind, url: URL_OF_PAGE });
}

const HASH = "ab".repeat(32);

describe("a page in another charset", () => {
  const file = (version: string) =>
    `<a href="web-${version}.tar.gz" data-yanked="${version} ist älter">x</a>`;
  const page = (head: string) =>
    `<html><head>${head}</head><body>${file("1.0")}${" ".repeat(2_000)}${file("2.0")}</body></html>`;
  const LATIN = '<meta charset="iso-8859-1">';
  const HTTP_EQUIV = "<META http-equiv='Content-Type' content='text/html; charset=windows-1252'>";
  const mark = (text: string) => `\ufeff${text}`;
  test.each<[string, Buffer, string | undefined]>([
    ["that nothing names, UTF-8", Buffer.from(page("")), undefined],
    ["that its type names", Buffer.from(page(""), "latin1"), "text/html; charset=ISO-8859-1"],
    ["that its type names in quotes", Buffer.from(page(""), "latin1"), 'text/html;Charset="latin1"'],
    ["that the page names", Buffer.from(page(LATIN), "latin1"), "text/html"],
    ["that the page names in the older way", Buffer.from(page(HTTP_EQUIV), "latin1"), undefined],
    ["of its type, not of the page", Buffer.from(page(LATIN)), "text/html; charset=utf-8"],
    ["of its mark, UTF-16", Buffer.from(mark(page("")), "utf16le"), "text/html; charset=utf-8"],
    ["of its mark, UTF-8", Buffer.from(mark(page(LATIN))), "text/html"],
    ["that its type names, UTF-16", Buffer.from(page(""), "utf16le"), "text/html; charset=utf-16le"],
    ["that is not known", Buffer.from(page("")), "text/html; charset=x-nothing"],
    ["that cannot be", Buffer.from(page('<meta charset="utf-16">')), undefined],
  ])("%s, is read", async (_, bytes, contentType) => {
    for (const size of [1, 7, 1_023, bytes.length]) {
      const read = await readIndexHtml(cut(bytes, size), { kind: "project", url: URL_OF_PAGE, contentType });
      expect(read).toMatchObject({
        files: [{ rest: { yanked: "1.0 ist älter" } }, { rest: { yanked: "2.0 ist älter" } }],
      });
    }
  });
});

test("JSON may begin with a byte order mark", () => {
  const bytes = Buffer.from(`\ufeff${JSON.stringify({ files: [] })}`);
  expect(readIndexJson(bytes, { kind: "project", url: URL_OF_PAGE })).toMatchObject({ files: [] });
});

describe("a link of a project's page in HTML", () => {
  test.each([
    ["relative", "web-1.0.tar.gz", `${URL_OF_PAGE}web-1.0.tar.gz`],
    ["to a folder above", "../../f/web-1.0.tar.gz", "https://index.example/f/web-1.0.tar.gz"],
    ["absolute", "https://cdn.example/web-1.0.tar.gz", "https://cdn.example/web-1.0.tar.gz"],
    ["without a scheme", "//cdn.example/web-1.0.tar.gz", "https://cdn.example/web-1.0.tar.gz"],
    ["with a query", "web-1.0.tar.gz?t=1&amp;u=2", `${URL_OF_PAGE}web-1.0.tar.gz?t=1&u=2`],
  ])("%s leads where a browser would go", async (_, href, url) => {
    expect(await readHtml(`<a href="${href}">x</a>`)).toMatchObject({ kind: "project", files: [{ url }] });
  });

  const WHEEL = "web-1.0-py3-none-any.whl";
  const hashed = `web-1.0.tar.gz#sha256=${HASH}`;
  test.each([
    [
      "under a base",
      `<base href="/files/"><a href="web-1.0.tar.gz">`,
      { url: "https://index.example/files/web-1.0.tar.gz" },
    ],
    [
      "with a hash",
      `<a href="${hashed}">x</a>`,
      { url: `${URL_OF_PAGE}${hashed}`, rest: { hashes: { sha256: HASH } } },
    ],
  ])("%s is read", async (_, html, file) => {
    expect(await readHtml(html)).toMatchObject({ kind: "project", files: [file] });
  });

  test.each([
    ["encoded", `<a href="web-1.0%2Bcpu-py3-none-any.whl">x</a>`, "web-1.0+cpu-py3-none-any.whl"],
    ["shortened", `<A HREF='${WHEEL}'>web-1.0-py3..&gt;</A>`, WHEEL],
  ])("%s names its file", async (_, html, filename) => {
    expect(await readHtml(html)).toMatchObject({ files: [{ filename }] });
  });

  const bothMetadata = `data-core-metadata="sha256=${HASH}" data-dist-info-metadata="true"`;
  test.each([
    ["with an egg", "", {}],
    ["for some Pythons", 'data-requires-python="&gt;=3.8"', { "requires-python": ">=3.8" }],
    ["yanked", "data-yanked", { yanked: true }],
    ["yanked for a reason", 'data-yanked="it &quot;broke&quot;"', { yanked: 'it "broke"' }],
    ["signed", 'data-gpg-sig="true"', { "gpg-sig": true }],
    ["with metadata", bothMetadata, { "core-metadata": { sha256: HASH } }],
    ["with metadata of old", 'data-dist-info-metadata="true"', { "core-metadata": true }],
    ["without metadata", 'data-core-metadata="false"', { "core-metadata": false }],
  ])("%s keeps what is said of its file", async (_, attributes, rest) => {
    const page = await readHtml(`<a ${attributes} href="web-1.0.zip#egg=web-1.0">x</a>`);
    expect(page).toMatchObject({ kind: "project", files: [{ rest: { hashes: {}, ...rest } }] });
  });

  test.each([
    `<a href="../">Parent</a>`,
    `<a href="?C=M;O=A">Modified</a>`,
    `<a name="top">web-1.0.zip</a>`,
    `<a href="https://web.example/">Homepage</a>`,
    `<a href="javascript:alert(1)//web-1.0.zip">x</a>`,
    `<a href="file:///etc/web-1.0.zip">x</a>`,
    `<a href="http://[/web-1.0.zip">x</a>`,
    `<a href="x%0a%00web-1.0.zip">x</a>`,
    `<a href="a%2Fweb-1.0.zip">x</a>`,
    `<!-- <a href="web-1.0.zip">x</a> -->`,
    `<script>"<a href='web-1.0.zip'>"</script>`,
  ])("%s is no file", async (html) => {
    expect(await readHtml(html)).toMatchObject({ files: [] });
  });
});

describe("a root page", () => {
  test.each([
    [
      `<a href="/simple/web/">web</a>\n<a href="zope-interface/">zope.interface</a>`,
      ["web", "zope.interface"],
    ],
    [`<a href="../">../</a><a href="web/">web/</a><a href="#">Not a name</a>`, ["web"]],
    [`<a href="a/">a<b>b</b>c</a>`, ["abc"]],
  ])("in HTML, %s, names its projects", async (html, names) => {
    const projects = names.map((name) => ({ name, rest: {} }));
    expect(await readHtml(html, "root")).toMatchObject({ kind: "root", projects });
  });

  it("in JSON keeps what is said of a project", () => {
    const page = {
      meta: { "api-version": "1.3" },
      projects: [{ name: "Web", _last: 7 }, { name: "a b" }, 1],
    };
    expect(readJson(page, "root")).toEqual({
      kind: "root",
      rest: { meta: { "api-version": "1.3" } },
      projects: [{ name: "Web", rest: { _last: 7 } }],
    });
  });
});

it("reads HTML the same wherever it is cut", async () => {
  const html = `<!DOCTYPE html><a href="web-1.0.zip#md5=${HASH}" data-yanked="é 🙂">web-1.0.zip</a><a href="web-1.1.zip">`;
  const whole = await readHtml(html);
  for (const size of [1, 2, 3, 7]) expect(await readHtml(html, "project", size)).toEqual(whole);
});

it("reads any HTML without failing", async () => {
  const piece = fc.constantFrom(
    ...["<a", " href=", '"', "'", ">", "</a>", "web-1.0.zip", "<base", ..."<&\0#é"],
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece), async (pieces) => {
      expect(await readHtml(pieces.join(""))).toMatchObject({ kind: "project" });
    }),
  );
});

it("keeps everything of a page in JSON but its links", () => {
  const page = {
    meta: { "api-version": "1.1" },
    name: "web",
    versions: ["1.0"],
    files: [
      {
        filename: "web-1.0.zip",
        url: "../f/web-1.0.zip",
        hashes: { sha256: HASH },
        size: 7,
        yanked: false,
        future: [1],
      },
      { filename: "a/b.zip", url: "x" },
      { filename: "..", url: "x" },
      { filename: "x.zip", url: "ftp://x.example/x.zip" },
      { filename: "x.zip" },
      null,
    ],
  };
  expect(readJson(page)).toEqual({
    kind: "project",
    rest: { meta: { "api-version": "1.1" }, name: "web", versions: ["1.0"] },
    files: [
      {
        filename: "web-1.0.zip",
        url: "https://index.example/simple/f/web-1.0.zip",
        rest: { hashes: { sha256: HASH }, size: 7, yanked: false, future: [1] },
      },
    ],
  });
});

test.each([
  [{ meta: { "api-version": "2.0" }, files: [] }, 'the index has version "2.0"; only 1.x is supported'],
  [{ meta: { "api-version": 1 }, files: [] }, "the index has version 1; only 1.x is supported"],
  [{ meta: {} }, "the page has neither files nor projects"],
  [[], "the page is not a JSON object"],
])("refuses %j", (page, message) => {
  expect(() => readJson(page)).toThrow(message);
});

test.each(["<b>", "<a href=x.zip>", "<svg>", "<p><b>"])(
  "refuses a page of %s that is too deep, before it takes time",
  async (tag) => {
    await expect(readHtml(tag.repeat(100_000))).rejects.toThrow(
      "the page is nested more than 10000 elements deep",
    );
  },
);

it("reads a page of any length whose elements end one way or another", async () => {
  const row = '<p>text<br><img src="x"><meta name="x"><b>bold</b></i><p><a href="web-1.0.zip">x</a></p>';
  const page = await readHtml(`<ul>${"<li>".repeat(11_000)}</ul>${row.repeat(11_000)}`);
  expect(page).toMatchObject({ kind: "project" });
});

it("refuses more links than any project has, before they take memory", async () => {
  const links = '<a href="x.zip"></a>'.repeat(100_001);
  await expect(readHtml(links)).rejects.toThrow("the page has more than 100000 links");
  expect(() => readJson({ files: Array(100_001).fill(0) })).toThrow("the page has more than 100000 entries");
  expect(() => readJson({ files: [], future: Array(600_000).fill({}) })).toThrow("more than 100000 entries");
});

it("refuses what is not JSON", () => {
  expect(() => readIndexJson(Buffer.from("<html>"), { kind: "root", url: URL_OF_PAGE })).toThrow(
    "the page has a JSON content type but is not valid JSON",
  );
});

it("refuses HTML of a version that it does not know", async () => {
  const html = (version: string) => `<meta name="pypi:repository-version" content="${version}">`;
  await expect(readHtml(html("1.2"))).resolves.toMatchObject({ files: [] });
  await expect(readHtml(html("2.0"))).rejects.toThrow("only 1.x is supported");
});
