import { describe, expect, it, test } from "vitest";
import type { CollectAnswer, CollectRequest } from "../../../../../ingest/collect/read-collect-request.js";
import { answerPython } from "../../../../../ingest/collect/python/answer-python.js";
import { createPythonIndex } from "../../../../../ingest/collect/python/python-index.js";
import type { PythonPackages, PythonSite } from "../../../../../ingest/collect/sites.js";
import {
  collectRequest,
  fakeUpstream,
  type FakeUpstream,
} from "../../../../support/collect/fake-registries.js";

const SITE: PythonSite = {
  kind: "python",
  packageId: "package",
  ownerId: "owner",
  project: "web",
  repositoryUrl: "https://index.example/simple/",
};

const JSON_TYPE = "application/vnd.pypi.simple.v1+json";
const WHEEL = "web-1.4.0-py3-none-any.whl";
const PAGES: Record<string, string> = {
  "https://index.example/simple/": '<a href="web/">web</a><a href="zope/">Zope</a>',
  "https://index.example/simple/web/":
    `<a href="https://cdn.example/w/${WHEEL}#sha256=ab" data-core-metadata="true">${WHEEL}</a>` +
    '<a href="../../f/web-1.3.0.tar.gz?t=1" data-gpg-sig="true">web-1.3.0.tar.gz</a>',
  "https://index.example/simple/zope-interface/":
    '<a href="zope_interface-7.1.zip">zope_interface-7.1.zip</a>',
  "https://index.example/simple/idna/": '<a href="idna-3.10.tar.gz">idna-3.10.tar.gz</a>',
};

function upstreamOfPages(): FakeUpstream {
  return fakeUpstream((url) => (PAGES[url] === undefined ? { status: 404 } : { body: PAGES[url] }));
}

/** The owner has "web" and "zope-interface"; everything else is somebody else's. */
const packages: PythonPackages = {
  of: (ownerId, project) => (ownerId === "owner" && project === "zope-interface" ? "zope" : undefined),
};

function ask(target: string, more: Partial<CollectRequest> = {}, upstream = upstreamOfPages()) {
  const index = createPythonIndex({ fetchIndex: upstream.fetchIndex, now: () => 0 });
  return answerPython(collectRequest(target, more), SITE, {
    index,
    packages,
    gone,
  }) as Promise<CollectAnswer>;
}

const gone = new AbortController().signal;
const WEB_PAGE =
  "<!DOCTYPE html><html><body><h1>web</h1>\n" +
  `<a href="/simple/web/${WHEEL}#sha256=ab" data-core-metadata="true" data-dist-info-metadata="true">${WHEEL}</a><br>\n` +
  '<a href="/simple/web/web-1.3.0.tar.gz" data-gpg-sig="true">web-1.3.0.tar.gz</a><br>\n</body></html>';

describe("a page", () => {
  it("is the upstream's with its links to this host", async () => {
    const answer = await ask("/simple/web/");
    expect(answer).toMatchObject({ status: 200, events: [] });
    expect(String(answer.body)).toBe(WEB_PAGE);
    expect(answer.headers).toMatchObject({
      "Content-Type": "text/html",
      Vary: "Accept",
      ETag: expect.stringMatching(/^"[\w-]{43}"$/) as string,
    });
  });

  it("at the root names every project of the upstream", async () => {
    expect(String((await ask("/simple/")).body)).toBe(
      '<!DOCTYPE html><html><body>\n<a href="/simple/web/">web</a><br>\n<a href="/simple/zope/">Zope</a><br>\n</body></html>',
    );
  });

  it("is JSON for who prefers that", async () => {
    const answer = await ask("/simple/web/", { headers: { accept: `${JSON_TYPE}, text/html;q=0.1` } });
    expect(answer.headers["Content-Type"]).toBe(JSON_TYPE);
    expect(JSON.parse(String(answer.body))).toEqual({
      meta: { "api-version": "1.0" },
      name: "web",
      files: [
        { filename: WHEEL, url: `/simple/web/${WHEEL}`, hashes: { sha256: "ab" }, "core-metadata": true },
        { filename: "web-1.3.0.tar.gz", url: "/simple/web/web-1.3.0.tar.gz", hashes: {}, "gpg-sig": true },
      ],
    });
  });

  it("has a tag for each form", async () => {
    const html = await ask("/simple/web/");
    const json = await ask("/simple/web/", { headers: { accept: JSON_TYPE } });
    expect(html.headers.ETag).not.toBe(json.headers.ETag);
  });

  test.each([
    ["NumPy", "numpy"],
    ["zope.interface", "zope-interface"],
    ["A__b", "a-b"],
  ])("of %s is asked for by the normalised name", async (name, normalized) => {
    const upstream = upstreamOfPages();
    await ask(`/simple/${name}/`, {}, upstream);
    expect(upstream.asked[0]?.url).toBe(`https://index.example/simple/${normalized}/`);
  });

  test.each([
    ["/simple", "/simple/"],
    ["/simple/web", "/simple/web/"],
    ["/simple/Zope.Interface", "/simple/zope-interface/"],
  ])("without its slash, %s, is moved to %s", async (target, location) => {
    expect(await ask(target)).toEqual({ status: 301, headers: { Location: location }, events: [] });
  });
});

describe("a page that the client may have", () => {
  test.each([
    ["the tag", (tag: string) => tag, 304],
    ["the tag made weak by a proxy", (tag: string) => `W/${tag}`, 304],
    ["one of several", (tag: string) => `"x", ${tag}`, 304],
    ["any", () => "*", 304],
    ["another", () => '"x"', 200],
  ])("and says so with %s", async (_, header, status) => {
    const { headers } = await ask("/simple/web/");
    const again = await ask("/simple/web/", { headers: { "if-none-match": header(headers.ETag ?? "") } });
    expect([again.status, again.body === undefined]).toEqual([status, status === 304]);
    expect(again.headers.ETag).toBe(headers.ETag);
  });
});

describe("a file", () => {
  const download = { ownerId: "owner", artifact: { kind: "package", id: "package" }, variables: new Map() };

  const AT = `https://cdn.example/w/${WHEEL}`;
  const wheel = { ...download, version: "1.4.0" };
  const range = (bytes: string) => ({ headers: { range: `bytes=${bytes}` } });
  const source = { ...download, version: "1.3.0" };

  test.each([
    [`/simple/web/${WHEEL}`, {}, `${AT}#sha256=ab`, [wheel]],
    ["/simple/Web/web-1.3.0.tar.gz", {}, "https://index.example/f/web-1.3.0.tar.gz?t=1", [source]],
    [`/simple/web/${WHEEL}`, { method: "HEAD" }, `${AT}#sha256=ab`, []],
    [`/simple/web/${WHEEL}`, range("-100"), `${AT}#sha256=ab`, []],
    [`/simple/web/${WHEEL}`, range("0-99"), `${AT}#sha256=ab`, []],
    [`/simple/web/${WHEEL}`, range("0-"), `${AT}#sha256=ab`, [wheel]],
    [`/simple/web/${WHEEL}.metadata`, {}, `${AT}.metadata`, []],
    ["/simple/web/web-1.3.0.tar.gz.asc", {}, "https://index.example/f/web-1.3.0.tar.gz.asc?t=1", []],
  ])("%s, asked for with %j, is at %s", async (target, more, location, events) => {
    expect(await ask(target, more)).toEqual({ status: 307, headers: { Location: location }, events });
  });

  test.each(["asc", "sigstore", "sha256"])(
    "that an index lists and that is said about another, .%s, is served and not counted",
    async (ending) => {
      const filename = `${WHEEL}.${ending}`;
      const files = [{ filename, url: `https://cdn.example/${filename}`, hashes: {} }];
      const body = JSON.stringify({ meta: { "api-version": "1.0" }, name: "web", files });
      const upstream = fakeUpstream(() => ({ headers: { "content-type": JSON_TYPE }, body }));
      expect(await ask(`/simple/web/${filename}`, {}, upstream)).toMatchObject({ status: 307, events: [] });
    },
  );

  test.each([
    [
      "of another package of the owner counts for that",
      "/simple/Zope.Interface/zope_interface-7.1.zip",
      ["zope", "7.1"],
    ],
    ["of any other project is served and not counted", "/simple/idna/idna-3.10.tar.gz", undefined],
  ])("%s (%s)", async (_, target, counted) => {
    const { status, events } = await ask(target);
    expect(status).toBe(307);
    expect(events.map(({ artifact, version }) => [artifact.id, version])).toEqual(
      counted === undefined ? [] : [counted],
    );
  });

  it("that is newer than the page is looked for again", async () => {
    const upstream = upstreamOfPages();
    const clock = { now: 0 };
    const index = createPythonIndex({ fetchIndex: upstream.fetchIndex, now: () => clock.now });
    const newest = collectRequest("/simple/web/web-2.0.zip");
    expect(await answerPython(newest, SITE, { index, packages, gone })).toMatchObject({ status: 404 });
    upstream.answer = () => ({ body: '<a href="web-2.0.zip">' });
    clock.now = 2_000;
    expect(await answerPython(newest, SITE, { index, packages, gone })).toMatchObject({ status: 307 });
  });
});

test.each([
  "/",
  "/simplex/",
  "/simple//",
  "/simple/web/nothing-1.0.zip",
  "/simple/web/web-1.3.0.tar.gz.metadata",
  `/simple/web/${WHEEL}.asc`,
  "/simple/web/%zz",
  "/simple/web/a/b",
  "/simple/-web/",
  "/simple/../",
  "/simple/web%2F..%2Fother/",
])("%s is an empty 404", async (target) => {
  expect(await ask(target)).toEqual({ status: 404, headers: {}, events: [] });
});

describe("an index's own answer", () => {
  const LOGIN = { "www-authenticate": 'Basic realm="pypi", Bearer realm="x"' };
  const own = { date: "then", connection: "x-hop", "x-hop": "1", "set-cookie": ["a=b"] };
  test.each<[number, Record<string, string>, string]>([
    [401, LOGIN, "Log in."],
    [403, { "x-blocked-by": "policy" }, "Quarantined."],
    [404, {}, ""],
    [410, {}, "Gone."],
    [429, { "retry-after": "120" }, "Slow down."],
    [451, { link: '<https://index.example/why>; rel="blocked-by"' }, ""],
  ])("%i reaches the installer with its headers", async (status, headers, body) => {
    const upstream = fakeUpstream(() => ({ status, headers: { ...own, ...headers }, body }));
    for (const target of ["/simple/", "/simple/web/", `/simple/web/${WHEEL}`]) {
      const answer = await ask(target, {}, upstream);
      expect(answer).toEqual({
        status,
        headers: { "content-type": "text/html", date: "then", ...headers },
        body: Buffer.from(body),
        events: [],
      });
    }
  });

  function* brokenOff() {
    yield Buffer.from("Gone.");
    throw new Error("incorrect header check");
  }

  test.each([
    ["is too long", "x".repeat(8_193)],
    ["breaks off", brokenOff()],
  ])("reaches the installer without a body that %s", async (_, body) => {
    const upstream = fakeUpstream(() => ({ status: 403, headers: { "content-encoding": "gzip" }, body }));
    expect(await ask("/simple/web/", {}, upstream)).toMatchObject({
      status: 403,
      headers: {},
      body: Buffer.alloc(0),
    });
  });
});

test.each(["POST", "PUT", "DELETE", "OPTIONS"])("%s is not allowed", async (method) => {
  expect(await ask("/simple/web/", { method })).toEqual({
    status: 405,
    headers: { Allow: "GET, HEAD" },
    events: [],
  });
});

test.each(["/simple/", "/simple/web/", `/simple/web/${WHEEL}`])(
  "%s is a 502 while there is no copy",
  async (target) => {
    const down = fakeUpstream(() => new Error("down"));
    expect(await ask(target, {}, down)).toMatchObject({
      status: 502,
      headers: { "Retry-After": "5" },
      events: [],
    });
  },
);
