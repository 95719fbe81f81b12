import { readdirSync } from "node:fs";
import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { describe, expect, test } from "vitest";
import {
  GUIDE,
  guideAddress,
  guideFile,
  linkOn,
  pictureOn,
  readGuide,
} from "../../../../../api/web/guide-files.js";
import { headingId, Markdown, parseMarkdown } from "../../../../../api/dashboard/guide/markdown.js";
import type { Visit } from "../../../../../api/web/page.js";

const visit = {
  ctx: { state: { publicBase: "https://stats.example/tools" } },
  asset: (name: string) => `/tools/assets/${name}`,
} as unknown as Visit;

const NAMES = GUIDE.flatMap(({ names }): readonly string[] => names);
const pathOf = (name: string) => guideFile(name) ?? "";

function rendered(text: string, path = "README.md"): string {
  const files = { addressOf: linkOn(visit, path), pictureOf: pictureOn(visit, path) };
  return renderToString(h(Markdown, { tokens: parseMarkdown(text), ...files }));
}

test("every page of the documentation is in the guide", () => {
  const files = readdirSync("deploy/docs", { recursive: true, encoding: "utf8" });
  const pages = files.filter((name) => name.endsWith(".md")).map((name) => `deploy/docs/${name}`);
  expect(NAMES.map(pathOf).sort()).toEqual([...pages, "README.md", "deploy/README.md"].sort());
});

describe.each(NAMES)("the page %s", (name) => {
  const path = pathOf(name);
  const html = rendered(readGuide(path), path);

  test("leaves no mark of Markdown in its text", () => {
    const prose = html.replace(/<code>[\s\S]*?<\/code>/g, "").replace(/<[^>]+>/g, "");
    expect(prose.match(/.*(?:\]\(|\*\*|`|^#|^ *- |\\|&lt;(?:!|br|img|p>)).*/gm) ?? []).toEqual([]);
  });

  test("has headings with ids of their own, so that each can be linked to", () => {
    const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id = ""]) => id);
    expect(ids.filter((id, index) => id === "" || ids.indexOf(id) !== index)).toEqual([]);
  });

  test("links only to pages and headings of the guide that exist, and to other hosts", () => {
    const links = [...html.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, link = ""]) => link);
    const broken = links.filter(
      (link) => !/^https?:|^\/tools\/assets\//.test(link) && !leadsSomewhere(link, name),
    );
    expect(broken).toEqual([]);
  });
});

function leadsSomewhere(link: string, current: string): boolean {
  const [page = "", heading] = link.split("#");
  const name = page === "" ? current : page.replace(/^\/tools\/docs\/guide\/?/, "") || "readme";
  const path = guideFile(name);
  if (path === undefined || heading === undefined) return path !== undefined;
  const titles = [...readGuide(path).matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) => headingId(title));
  return titles.includes(heading);
}

test("pictures are among the dashboard's files, with their size; files that are not served are no links", () => {
  expect(rendered("![A chart](deploy/docs/package.png)")).toContain(
    '<img src="/tools/assets/package.png" width="1280" height="1000" alt="A chart"',
  );
  const inBoth =
    '<picture>\n  <source srcset="deploy/docs/package-dark.png">\n  <img alt="A" src="deploy/docs/package.png">\n</picture>';
  expect(rendered(inBoth)).toContain(
    '<img src="/tools/assets/package.png" width="1280" height="1000" alt="A"',
  );
  expect(rendered("the [unit](deploy/systemd/maintainer-toolchain.service)")).toBe(
    "<p>the <code>unit</code></p>",
  );
  expect(guideAddress(visit, "webhooks", "create-one")).toBe("/tools/docs/guide/webhooks#create-one");
});

test("text is escaped, and HTML is left out, wherever it stands", () => {
  const text = "`<script>` & <script>alert(1)</script>";
  const page = [`# ${text}`, text, `- ${text}`, `| ${text} |\n|---|\n| ${text} |`, `~~~sh\n${text}\n~~~`];
  const html = rendered(page.join("\n\n"));
  expect(html).not.toContain("<script");
  expect(html.match(/<code>&lt;script><\/code> &amp; alert/g)).toHaveLength(4);
});

test("an item of a list keeps its paragraphs and blocks, and the comment above a block is left out", () => {
  const html = rendered(
    "1. **One**:\n\n   <!-- not run: an example -->\n   ```sh\n   make\n   ```\n\n2. Two\n   goes on\n\nAfter",
  );
  expect(html).toMatch(
    /^<ol start="1"><li><p><strong>One<\/strong>:<\/p><div[^]*make[^]*<\/li><li><p>Two\ngoes on<\/p><\/li><\/ol><p>After<\/p>$/,
  );
});
