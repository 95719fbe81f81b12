import { h, type ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";
import { describe, expect, test } from "vitest";
import { sizeOf } from "../../../../../api/web/assets/pictures.js";
import { guidePage } from "../../../../../api/dashboard/guide/guide-page.js";
import { searchGuide } from "../../../../../api/dashboard/guide/search-guide.js";
import { type Visit, VisitContext } from "../../../../../api/web/page.js";

async function shown({ name, q }: { name?: string; q?: string } = {}): Promise<string> {
  const visit = {
    ctx: { params: name === undefined ? {} : { name }, state: { publicBase: "https://stats.example" } },
    query: new URLSearchParams(q === undefined ? {} : { q }),
    asset: (file: string) => `/assets/${file}`,
  } as unknown as Visit;
  const data = await guidePage.load(visit);
  const content: ComponentChildren = guidePage.render(data, visit);
  return renderToString(h(VisitContext.Provider, { value: visit }, content));
}

/** The addresses of links in a part of the page, by its label. */
function linksIn(html: string, label: string): string[] {
  const [, part = ""] = new RegExp(`<nav[^>]* aria-label="${label}">(.*?)</nav>`, "s").exec(html) ?? [];
  return [...part.matchAll(/href="([^"]*)"/g)].map(([, link = ""]) => link);
}

describe("a page of the guide", () => {
  test("lists its sections, each with a link that its heading has as well", async () => {
    const html = await shown({ name: "restore" });
    const links = linksIn(html, "On this page");
    expect(links).toContain("#reset-the-consumer-group");
    for (const link of links)
      expect(html).toMatch(new RegExp(`<h[23] id="${link.slice(1)}"><a href="${link}">`));
  });

  test("leads to the page before it and the page after it", async () => {
    const html = await shown({ name: "backup" });
    expect(linksIn(html, "Previous and next page")).toEqual(["/docs/guide/sizing", "/docs/guide/restore"]);
  });

  test("opens its part of the list, and no other", async () => {
    const html = await shown({ name: "backup" });
    const open = [...html.matchAll(/<details open><summary>([^<]*)/g)].map(([, title]) => title);
    expect(open).toEqual(["Operate"]);
  });

  test("shows no sections for a file to copy", async () => {
    const html = await shown({ name: "receive.py" });
    expect(html).toContain("hmac");
    expect(html).not.toContain("On this page");
  });
});

describe("a search of the guide", () => {
  test("finds the section by words of its text, its blocks and its tables", () => {
    const found = searchGuide("reset consumer group");
    expect(found[0]).toMatchObject({ name: "restore", heading: { id: "reset-the-consumer-group" } });
    expect(searchGuide("GRANT TABLE ENGINE")[0]?.name).toBe("own-stores");
    expect(searchGuide("EVENTS_RETENTION_DAYS").length).toBeGreaterThan(1);
  });

  test("wants every word, in any order and case", () => {
    expect(searchGuide("GROUP reset CONSUMER")[0]?.name).toBe("restore");
    expect(searchGuide("restore zebra")).toEqual([]);
    expect(searchGuide("  ")).toEqual([]);
  });

  test("marks the words in what it shows, and takes no text for a pattern or for HTML", async () => {
    expect(await shown({ q: "bitmap" })).toMatch(/<mark>bitmap<\/mark>/i);
    const html = await shown({ q: "<b> (.*" });
    expect(html).toContain("Results for “&lt;b> (.*”");
    expect(html).toContain("No page contains all of these words.");
  });

  test("shows at most 20 sections", () => {
    expect(searchGuide("the")).toHaveLength(20);
  });
});

test("pictures of both kinds say their size", () => {
  const png = Buffer.from("89504e470d0a1a0a0000000d4948445200000500000003e8", "hex");
  expect(sizeOf(png)).toEqual({ width: 1280, height: 1000 });
  expect(sizeOf(Buffer.from('<svg xmlns="x" width="960" height="330">'))).toEqual({
    width: 960,
    height: 330,
  });
  expect(() => sizeOf(Buffer.from("<svg>"))).toThrow("no size");
});
