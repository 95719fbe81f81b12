import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, it, test } from "vitest";
import { answerPython } from "../../../../../ingest/collect/python/answer-python.js";
import { createPythonIndex } from "../../../../../ingest/collect/python/python-index.js";
import { createPartReader } from "../../../../../ingest/collect/python/read-part.js";
import type { PythonSite } from "../../../../../ingest/collect/sites.js";
import {
  collectRequest,
  fakeUpstream,
  type UpstreamAnswer,
} from "../../../../support/collect/fake-registries.js";

const SITE: PythonSite = {
  kind: "python",
  packageId: "package",
  ownerId: "owner",
  project: "web",
  repositoryUrl: "https://index.example/simple/",
};
const WHEEL = "web-1.4.0-py3-none-any.whl";
const URL_OF_WHEEL = `https://cdn.example/${WHEEL}#sha256=ab`;
const STAYS = new AbortController().signal;
const PART = {
  status: 206,
  headers: { "content-range": "bytes 3-6/9", "content-length": "4" },
  body: "part",
};

function ask(
  range: string,
  given: UpstreamAnswer | Error = PART,
  { agent = "uv/0.9.2 {}", url = URL_OF_WHEEL } = {},
) {
  const page = { body: `<a href="${url}">${WHEEL}</a>` };
  const upstream = fakeUpstream((url) => (url.startsWith(SITE.repositoryUrl) ? page : given));
  const index = createPythonIndex({ fetchIndex: upstream.fetchIndex, now: () => 0 });
  const request = collectRequest(`/simple/web/${WHEEL}`, { headers: { range, "user-agent": agent } });
  const answer = answerPython(request, SITE, { index, packages: { of: () => undefined }, gone: STAYS });
  return { upstream, answer };
}

describe("a part of a file for uv, which follows no redirect of a Range", () => {
  it.each(["3-6", "0-3"])("comes through this host and is not counted: %s", async (bytes) => {
    const [range, place] = [`bytes=${bytes}`, `bytes ${bytes}/9`];
    const { upstream, answer } = ask(range, {
      ...PART,
      headers: { ...PART.headers, "content-range": place },
    });
    const { body, ...head } = await answer;
    const headers = { "Content-Range": [place], "Content-Length": ["4"] };
    expect(head).toEqual({ status: 206, headers, events: [] });
    expect(await text(Readable.from(body ?? ""))).toBe("part");
    expect(upstream.asked[1]).toEqual({
      url: URL_OF_WHEEL,
      headers: { Range: range, "Accept-Encoding": "identity" },
    });
  });

  test.each<[string, string, (UpstreamAnswer | Error)?, Parameters<typeof ask>[2]?]>([
    ["is too long", "bytes=3-1048579"],
    ["has no length", "bytes=3-"],
    ["is one of several", "bytes=3-6,8-9"],
    ["ends before it begins", "bytes=9-3"],
    ["is answered with another part", "bytes=4-7"],
    ["is for another client", "bytes=3-6", PART, { agent: "pip/25.0" }],
    ["is at http, of an index with https", "bytes=3-6", PART, { url: `http://cdn.example/${WHEEL}` }],
    ["is answered with the whole file", "bytes=3-6", { body: "the whole" }],
    [
      "is answered with more than that",
      "bytes=3-6",
      { ...PART, headers: { ...PART.headers, "content-length": "2000000" } },
    ],
    ["cannot be fetched", "bytes=3-6", new Error("down")],
  ])("is a redirect where it %s", async (_, range, given, over) => {
    expect(await ask(range, given, over).answer).toMatchObject({ status: 307, events: [] });
  });

  const part = {
    url: "https://cdn.example/a",
    ownerId: "owner",
    client: "192.0.2.1",
    gone: STAYS,
    range: "bytes=3-6",
  };

  it("waits for the others of its client, and a client that leaves frees its place at once", async () => {
    const { fetchIndex, asked } = fakeUpstream((url) =>
      url.endsWith("stuck") ? new Promise(() => {}) : PART,
    );
    const readPart = createPartReader(fetchIndex, { perClient: 1 });
    const leaving = new AbortController();
    const stuck = readPart({ ...part, url: "https://cdn.example/stuck", gone: leaving.signal });
    const next = readPart(part);
    expect(await readPart({ ...part, client: "192.0.2.2" })).toBeDefined();
    expect(asked).toHaveLength(2);
    leaving.abort(new Error("gone"));
    await expect(stuck).rejects.toThrow("gone");
    expect(await next).toBeDefined();
  });

  it("frees its place when its client leaves before the last byte", async () => {
    const readPart = createPartReader(fakeUpstream(() => PART).fetchIndex, { perClient: 1, perOwner: 1 });
    const leaving = new AbortController();
    expect(await readPart({ ...part, gone: leaving.signal })).toBeDefined();
    leaving.abort();
    expect(await readPart(part)).toBeDefined();
  });

  it("is refused by the reader while all places are taken, until a part was read", async () => {
    const { fetchIndex } = fakeUpstream(() => PART);
    const readPart = createPartReader(fetchIndex, { perOwner: 1 });
    const first = await readPart(part);
    expect(await readPart(part)).toBeUndefined();
    expect(await readPart({ ...part, ownerId: "another", client: "x" })).toBeDefined();
    expect(await text(Readable.from(first?.body ?? ""))).toBe("part");
    expect(await readPart(part)).toBeDefined();
  });
});
