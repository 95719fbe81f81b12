import { describe, expect, it, test } from "vitest";
import {
  createPythonIndex,
  type PythonIndex,
  type PythonIndexOptions,
} from "../../../../../ingest/collect/python/python-index.js";
import { isRefusal } from "../../../../../ingest/collect/python/read-upstream-page.js";
import type { ServedPage } from "../../../../../ingest/collect/python/render-index-page.js";
import {
  fakeUpstream,
  type FakeUpstream,
  type UpstreamAnswer,
} from "../../../../support/collect/fake-registries.js";

const PLACE = { repositoryUrl: "https://index.example/simple/", project: "web", ownerId: "ada" };

function page(...files: string[]): UpstreamAnswer {
  return { body: files.map((file) => `<a href="${file}">${file}</a>`).join("") };
}

interface World {
  upstream: FakeUpstream;
  index: PythonIndex;
  clock: { now: number };
  failures: string[];
}

function worldOf(answer: FakeUpstream["answer"], limits: PythonIndexOptions["limits"] = {}): World {
  const upstream = fakeUpstream(answer);
  const clock = { now: 0 };
  const failures: string[] = [];
  const index = createPythonIndex({
    fetchIndex: upstream.fetchIndex,
    now: () => clock.now,
    onFailure: (error, url) => failures.push(`${url}: ${(error as Error).message}`),
    limits: { freshMs: 60_000, refusedMs: 10_000, holdOffMs: 5_000, ...limits },
  });
  return { upstream, index, clock, failures };
}

/** Whether the page has a file, or why there is no page. */
async function has({ index }: World, file: string, place = PLACE): Promise<boolean | string> {
  return stateOf(await index.read(place), file);
}

function stateOf(read: Awaited<ReturnType<PythonIndex["read"]>>, file: string): boolean | string {
  if (read === "unavailable") return read;
  return isRefusal(read) ? `refused with ${read.status}` : read.file(file) !== undefined;
}

it("asks for the page of the project, and for JSON first", async () => {
  const world = worldOf(() => page("web-1.0.zip"));
  expect(await has(world, "web-1.0.zip")).toBe(true);
  expect(world.upstream.asked).toEqual([
    {
      url: "https://index.example/simple/web/",
      headers: {
        Accept:
          "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.9, text/html;q=0.5",
      },
    },
  ]);
});

it("gives up an upstream whose request never settles, so that it keeps no place of the others", async () => {
  const failures: string[] = [];
  const index = createPythonIndex({
    fetchIndex: () => new Promise(() => undefined),
    now: () => 0,
    onFailure: (_, url) => failures.push(url),
    limits: { timeoutMs: 10, fetchesMax: 1 },
  });
  expect(await index.read(PLACE)).toBe("unavailable");
  expect(await index.read({ ...PLACE, ownerId: "bob" })).toBe("unavailable");
  expect(failures).toHaveLength(2);
});

it("serves no page that was cut off, and keeps the copy that it has", async () => {
  const whole = '<html><body><a href="a.zip">a</a><a href="b.zip">b</a></body></html>';
  const world = worldOf(() => ({ body: whole.slice(0, 45), isDelimited: false }));
  expect(await has(world, "a.zip")).toBe("unavailable");
  world.clock.now = 60_000;
  world.upstream.answer = () => ({ body: whole, isDelimited: false });
  expect(await has(world, "b.zip")).toBe(true);
  world.clock.now = 120_000;
  world.upstream.answer = () => ({ body: whole.slice(0, 45), isDelimited: false });
  expect(await has(world, "b.zip")).toBe(true);
});

it("asks for the root page where the repository is, and for HTML, which is read as it comes", async () => {
  const world = worldOf(() => page());
  await world.index.read({ ...PLACE, project: "" });
  expect(world.upstream.asked).toEqual([
    {
      url: PLACE.repositoryUrl,
      headers: {
        Accept: expect.stringMatching(/^application\/vnd.pypi.simple.v1\+html, text\/html/) as string,
      },
    },
  ]);
});

it("asks again only when the page is no longer fresh, with the tags that came with it", async () => {
  const world = worldOf(() => ({ ...page("a.zip"), headers: { etag: '"1"', "last-modified": "then" } }));
  await has(world, "a.zip");
  world.clock.now = 59_999;
  await has(world, "a.zip");
  expect(world.upstream.asked).toHaveLength(1);

  world.clock.now = 60_000;
  world.upstream.answer = () => ({ status: 304 });
  expect(await has(world, "a.zip")).toBe(true);
  expect(world.upstream.asked[1]?.headers).toMatchObject({
    "If-None-Match": '"1"',
    "If-Modified-Since": "then",
  });

  world.clock.now = 130_000;
  world.upstream.answer = () => page("b.zip");
  expect(await has(world, "b.zip")).toBe(true);
  expect(world.upstream.asked).toHaveLength(3);
});

it("asks sooner for who needs a page that is newer", async () => {
  const world = worldOf(() => page("a.zip"));
  await world.index.read(PLACE);
  world.clock.now = 2_000;
  await world.index.read(PLACE, { ageMsMax: 2_000 });
  await world.index.read(PLACE, { ageMsMax: 2_000 });
  expect(world.upstream.asked).toHaveLength(2);
});

it("asks once for however many want a page at once", async () => {
  const world = worldOf(async () => page("a.zip"));
  const all = await Promise.all(Array.from({ length: 50 }, () => has(world, "a.zip")));
  expect(new Set(all)).toEqual(new Set([true]));
  expect(world.upstream.asked).toHaveLength(1);
});

it("keeps the pages of two upstreams apart", async () => {
  const world = worldOf((url) => page(url.includes("other") ? "b.zip" : "a.zip"));
  const other = { ...PLACE, repositoryUrl: "https://other.example/" };
  expect(await has(world, "a.zip")).toBe(true);
  expect(await has(world, "a.zip", other)).toBe(false);
});

describe("an answer that is no page", () => {
  const type = (contentType: string) => ({ headers: { "content-type": contentType } });
  const LATER = "application/vnd.pypi.simple.v2+json";
  const INVALID = "the page has a JSON content type but is not valid JSON";
  const largeJson = { ...type("application/json; charset=utf-8"), body: `"${"x".repeat(1000)}"` };
  test.each<[string, UpstreamAnswer | Error, string]>([
    ["a connection that fails", new Error("refused"), "refused"],
    ["an error", { status: 500 }, "the upstream returned 500"],
    ["a redirect that was not followed", { status: 302 }, "the upstream returned 302"],
    ["not modified, when nothing is known", { status: 304 }, "the upstream returned 304"],
    ["another type", type("application/pdf"), "the upstream returned application/pdf"],
    ["no type", type(""), "the upstream returned no content type"],
    ["a later version", type(LATER), `the upstream returned ${LATER}`],
    ["broken JSON", { ...type("application/json"), body: "{" }, INVALID],
    ["too much HTML", { body: "x".repeat(1001) }, "the page is larger than 1000 bytes"],
    ["too much JSON", largeJson, "the page is larger than 1000 bytes"],
  ])("%s, is answered as unavailable, and why is told", async (_, answer, message) => {
    const world = worldOf(() => answer, { pageBytesMax: 1000 });
    expect(await has(world, "a.zip")).toBe("unavailable");
    expect(world.failures).toEqual([`https://index.example/simple/web/: ${message}`]);
  });
});

it("gives up the bodies of answers that it does not read", async () => {
  const world = worldOf(() => ({ status: 500 }));
  await has(world, "a.zip");
  expect(world.upstream.discarded).toBe(1);
});

it("serves the copy that it has while the upstream is unavailable, and leaves the upstream alone for a while", async () => {
  const world = worldOf(() => page("a.zip"));
  await has(world, "a.zip");
  world.upstream.answer = () => new Error("down");
  world.clock.now = 60_000;
  expect(await has(world, "a.zip")).toBe(true);
  world.clock.now = 64_999;
  expect(await has(world, "a.zip")).toBe(true);
  expect(world.upstream.asked).toHaveLength(2);

  world.clock.now = 65_000;
  world.upstream.answer = () => page("b.zip");
  expect(await has(world, "b.zip")).toBe(true);
});

it("gives up an upstream that does not answer in time, and serves its copy", async () => {
  const world = worldOf(() => page("a.zip"), { timeoutMs: 150 });
  await has(world, "a.zip");
  world.clock.now = 60_000;
  world.upstream.answer = () => new Promise(() => undefined);
  expect(await has(world, "a.zip")).toBe(true);
  expect(world.failures).toEqual([expect.stringContaining("aborted due to timeout")]);
});

describe("a page that the upstream refuses", () => {
  const STATUSES = [400, 401, 402, 403, 404, 405, 406, 408, 410, 418, 421, 425, 429, 451, 499];
  test.each(STATUSES)(
    "is refused as the upstream does it with %i, and asked for again soon",
    async (status) => {
      const world = worldOf(() => ({ status }));
      expect(await has(world, "a.zip")).toBe(`refused with ${status}`);
      expect(world.failures).toEqual([]);
      world.clock.now = 9_999;
      expect(await has(world, "a.zip")).toBe(`refused with ${status}`);
      world.clock.now = 10_000;
      world.upstream.answer = () => page("a.zip");
      expect(await has(world, "a.zip")).toBe(true);
      expect(world.upstream.asked).toHaveLength(2);
    },
  );

  test.each([401, 403, 404, 410, 451])("with %i is gone although there is a copy", async (status) => {
    const world = worldOf(() => page("a.zip"));
    await has(world, "a.zip");
    world.upstream.answer = () => ({ status });
    world.clock.now = 60_000;
    expect(await has(world, "a.zip")).toBe(`refused with ${status}`);
    world.upstream.answer = () => new Error("down");
    world.clock.now = 70_000;
    expect(await has(world, "a.zip")).toBe("unavailable");
  });

  test.each([408, 425, 429])("with %i for now is served as the copy that there is", async (status) => {
    const world = worldOf(() => page("a.zip"));
    await has(world, "a.zip");
    world.upstream.answer = () => ({ status });
    world.clock.now = 60_000;
    expect(await has(world, "a.zip")).toBe(true);
    expect(world.failures).toEqual([`https://index.example/simple/web/: the upstream returned ${status}`]);
  });

  it("may be there by now when the upstream no longer answers", async () => {
    const world = worldOf(() => ({ status: 404 }));
    await has(world, "a.zip");
    world.upstream.answer = () => new Error("down");
    world.clock.now = 10_000;
    expect(await has(world, "a.zip")).toBe("unavailable");
  });
});

it("forgets what was not asked for longest when the pages take too much memory", async () => {
  const world = worldOf(() => page("a.zip", "x".repeat(500)), { cacheBytesMax: 20_000 });
  const place = (project: string) => ({ ...PLACE, project });
  for (const project of ["a", "b", "a", "c", "a", "d"]) await world.index.read(place(project));
  const asked = world.upstream.asked.length;
  await world.index.read(place("a"));
  expect(world.upstream.asked).toHaveLength(asked);
  await world.index.read(place("b"));
  expect(world.upstream.asked).toHaveLength(asked + 1);
});

describe("an owner above its share of the cache", () => {
  const projects = Array.from({ length: 20 }, (_, index) => `p${index}`);
  const readAll = async ({ index }: World, ownerId: string) => {
    for (const project of projects) await index.read({ ...PLACE, ownerId, project });
  };
  const kept = async (world: World, ownerId: string) => {
    const has = async (project: string) =>
      (await world.index.read({ ...PLACE, ownerId, project })) !== "unavailable";
    const found = await Promise.all(projects.map(has));
    return projects.filter((_, index) => found[index]);
  };
  const goDown = (world: World) => {
    world.upstream.answer = () => new Error("down");
    world.clock.now += 60_000;
  };
  // Of about 5,400 bytes: three fit.
  const PAGE = page("a.zip", "x".repeat(500));
  const BY_BYTES = { cacheBytesMax: 20_000, cacheBytesPerOwner: 6_000 };
  test.each([
    ["bytes", BY_BYTES],
    ["number", { pagesMax: 3, pagesPerOwner: 1 }],
  ])(
    "takes no page of another, by their %s: its copies are there when the upstream is not",
    async (_, limits) => {
      const world = worldOf(() => PAGE, limits);
      await world.index.read(PLACE);
      await readAll(world, "eve");
      goDown(world);
      expect(await has(world, "a.zip")).toBe(true);
      expect(await kept(world, "eve")).toEqual(["p18", "p19"]);
    },
  );

  it("has all of it while nobody else needs it, and gives way to others", async () => {
    const world = worldOf(() => PAGE, BY_BYTES);
    await readAll(world, "eve");
    await world.index.read(PLACE);
    goDown(world);
    expect(await kept(world, "eve")).toEqual(["p18", "p19"]);
    expect(await has(world, "a.zip")).toBe(true);
  });

  it("gives way before older pages of owners within theirs", async () => {
    const world = worldOf(() => PAGE, BY_BYTES);
    await world.index.read(PLACE);
    await readAll(world, "eve");
    await world.index.read({ ...PLACE, ownerId: "bob" });
    goDown(world);
    expect(await has(world, "a.zip")).toBe(true);
    expect(await kept(world, "eve")).toEqual(["p19"]);
  });

  it("does not keep a page above its share at the cost of others", async () => {
    const world = worldOf(() => PAGE, { ...BY_BYTES, cacheBytesPerOwner: 5_500 });
    for (const ownerId of ["ada", "bob", "cyd"]) await world.index.read({ ...PLACE, ownerId });
    world.upstream.answer = () => page("a.zip", "x".repeat(2_000));
    const large = await world.index.read({ ...PLACE, ownerId: "eve" });
    expect(large).toHaveProperty("in");
    goDown(world);
    for (const ownerId of ["ada", "bob", "cyd"])
      expect(await world.index.read({ ...PLACE, ownerId })).not.toBe("unavailable");
  });

  it("keeps its latest page even if that is larger than the share", async () => {
    const world = worldOf(() => page("a.zip"), { cacheBytesMax: 3_000, cacheBytesPerOwner: 10 });
    await readAll(world, "eve");
    goDown(world);
    expect(await kept(world, "eve")).toContain("p19");
  });
});

it("reads no more at once than there is memory for, and all of it one after another", async () => {
  const large = { body: "x".repeat(600) };
  const world = worldOf(() => large, { readingBytesMax: 1000 });
  const read = (project: string) => world.index.read({ ...PLACE, project });
  await Promise.all([read("a"), read("b")]);
  expect(world.failures).toEqual([expect.stringContaining("too many large pages are being read")]);
  for (const project of ["c", "d", "e"]) await read(project);
  expect(world.failures).toHaveLength(1);
});

it("leaves room for the pages of others, and for another owner's of the same upstream", async () => {
  const large = { body: "x".repeat(600) };
  const world = worldOf(() => large, { readingBytesMax: 2000, readingBytesPerOwner: 1000 });
  const read = (project: string, ownerId: string) => world.index.read({ ...PLACE, project, ownerId });
  const answers = await Promise.all([read("a", "eve"), read("b", "eve"), read("b", "ada")]);
  expect(answers.map((answer) => answer === "unavailable")).toEqual([false, true, false]);
  expect(world.failures).toEqual([expect.stringContaining("/b/: too many large pages are being read")]);
});

it("asks again for an owner whose page another could not have", async () => {
  const world = worldOf(() => new Error("down"));
  await has(world, "a.zip", { ...PLACE, ownerId: "eve" });
  world.upstream.answer = () => page("a.zip");
  expect(await has(world, "a.zip")).toBe(true);
});

it("serves one owner while all that another asked for stands still", async () => {
  const world = worldOf((url) => (url.includes("slow") ? new Promise(() => undefined) : page("a.zip")), {
    fetchesMax: 3,
    fetchesPerKey: 2,
  });
  for (const at of [1, 2, 3]) {
    const repositoryUrl = `https://slow${at}.example/`;
    void world.index.read({ repositoryUrl, project: "web", ownerId: "eve" });
  }
  expect(await has(world, "a.zip")).toBe(true);
  expect(world.failures).toEqual([]);
});

it("forgets no page for names that the upstream does not have", async () => {
  const world = worldOf((url) => (url.endsWith("/web/") ? page("a.zip") : { status: 404 }), { pagesMax: 5 });
  await world.index.read(PLACE);
  for (let made = 0; made < 20; made++) await world.index.read({ ...PLACE, project: `made-up-${made}` });
  await world.index.read(PLACE);
  expect(world.upstream.asked).toHaveLength(21);
});

it("links relative to where the page came from in the end", async () => {
  const world = worldOf(() => ({ ...page("a.zip"), url: "https://mirror.example/web/" }));
  const read = await world.index.read(PLACE);
  expect((read as ServedPage).file("a.zip")?.url).toBe("https://mirror.example/web/a.zip");
});
