import fc from "fast-check";
import { parseDocument } from "htmlparser2";
import { describe, expect, test } from "vitest";
import { badgeColor, isLight, parseBadge } from "../../../../../api/features/public/parse-badge.js";
import { REQUESTS_MAX, badgeCount, limitByAddress } from "../../../../../api/features/public/badge-routes.js";
import { type BadgeFace, badgeSvg, textWidth } from "../../../../../api/features/public/badge-svg.js";
import { type PublicPackage, choosePublic } from "../../../../../api/features/public/public-packages.js";
import { badgeSnippets, publicAddresses } from "../../../../../api/web/address.js";
import type { ApiContext } from "../../../../../api/base/http/route.js";
import { testTable } from "../../../../support/test-table.js";

testTable("a count of %i is %s", badgeCount, [
  [0, "<10"],
  [9, "<10"],
  [10, "10"],
  [99, "99"],
  [104, "100"],
  [995, "1k"],
  [999, "1k"],
  [1_234, "1.2k"],
  [9_960, "10k"],
  [12_345, "12k"],
  [123_456, "120k"],
  [999_999, "1M"],
  [34_123_456, "34M"],
  [1_250_000_000, "1.3G"],
  [7_000_000_000_000_000, "7000T"],
]);

describe("a colour", () => {
  testTable("%s is %s", badgeColor, [
    ["blue", "#007ec6"],
    ["fff", "#ffffff"],
    ["#4C1", "#44cc11"],
    ["97ca00", "#97ca00"],
  ]);

  test.each(["", "mauve", "#12", "12345g", 'red" onload="alert(1)', "constructor", "url(#x)"])(
    "%j is none",
    (text) => {
      expect(badgeColor(text)).toBeUndefined();
    },
  );

  test("that is light has dark text", () => {
    expect(["#ffffff", "#4488ff", "#000000"].map(isLight)).toEqual([true, false, false]);
  });
});

describe("the parameters of a badge", () => {
  test("are downloads of a month, flat, where none is given", () => {
    expect(parseBadge({})).toEqual({
      metric: "downloads",
      period: "month",
      style: "flat",
      label: "downloads/month",
      color: undefined,
      type: undefined,
    });
  });

  test.each([
    [{ period: "total" }, "downloads"],
    [{ metric: "addresses", period: "week" }, "unique IPs/week"],
    [{ metric: "version" }, "version"],
    [{ label: "" }, ""],
    [{ label: " pulls\u0000\u001b[31m\ud800 " }, "pulls  [31m"],
  ])("%j have the label %j", (query, label) => {
    expect(parseBadge(query).label).toBe(label);
  });

  test.each([
    { metric: "companies" },
    { period: "year" },
    { style: "social" },
    { color: "mauve" },
    { type: "rpm" },
    { label: "x".repeat(65) },
    { metric: ["downloads", "version"] },
  ])("%j are refused", (query) => {
    expect(() => parseBadge(query)).toThrow(expect.objectContaining({ code: "invalid-query" }));
  });
});

const FACE: BadgeFace = { label: "downloads", message: "1.2k", color: "#007ec6", style: "flat" };

/** What an XML parser makes of a badge. */
function elementsOf(svg: string) {
  const found: { name: string; attributes: Record<string, string> }[] = [];
  const visit = (nodes: ReturnType<typeof parseDocument>["children"]): void => {
    for (const node of nodes) {
      if (!("attribs" in node)) continue;
      found.push({ name: node.name, attributes: node.attribs });
      visit(node.children);
    }
  };
  visit(parseDocument(svg, { xmlMode: true, decodeEntities: true }).children);
  return found;
}

describe("the picture", () => {
  test("has a label and a message, and their words for those who do not see it", () => {
    const svg = badgeSvg(FACE);
    expect(svg).toContain("<title>downloads: 1.2k</title>");
    const [root] = elementsOf(svg);
    expect(root).toMatchObject({ name: "svg", attributes: { role: "img", "aria-label": "downloads: 1.2k" } });
  });

  test.each(["flat", "flat-square", "for-the-badge"] as const)("is as wide as its parts, %s", (style) => {
    const elements = elementsOf(badgeSvg({ ...FACE, style }));
    const [clip, left, right] = elements
      .filter(({ name }) => name === "rect")
      .map(({ attributes }) => attributes);
    expect(Number(clip?.["width"])).toBe(Number(left?.["width"]) + Number(right?.["width"]));
    expect(Number(right?.["x"])).toBe(Number(left?.["width"]));
    const fitted = elements
      .filter(({ name }) => name === "text")
      .map((text) => Number(text.attributes["textLength"]));
    expect(fitted.every((width) => width > 20 && width < Number(clip?.["width"]))).toBe(true);
  });

  test("has one part where the label is empty", () => {
    const elements = elementsOf(badgeSvg({ ...FACE, label: "" }));
    expect(elements.filter(({ name }) => name === "text")).toHaveLength(1);
  });

  test.each([
    `</text><script>alert(1)</script>`,
    `" onload="alert(1)`,
    `]]><foreignObject/><!--`,
    `&xxe;&#60;script&#62;`,
    `<a href='javascript:alert(1)'>`,
  ])("shows %j as text", (hostile) => {
    const names = new Set(
      elementsOf(badgeSvg({ ...FACE, label: hostile, message: hostile })).map(({ name }) => name),
    );
    expect([...names].sort()).toEqual(["clipPath", "g", "rect", "svg", "text", "title"]);
    const attributes = elementsOf(badgeSvg({ ...FACE, label: hostile, message: hostile })).flatMap((each) =>
      Object.keys(each.attributes),
    );
    expect(attributes.filter((name) => /^on|href|style/.test(name))).toEqual([]);
  });
});

describe("the picture is well-formed XML, whatever its texts hold", () => {
  const decoded = (svg: string) =>
    svg
      .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&quot;", '"')
      .replaceAll("&amp;", "&");
  const titleOf = (svg: string) => /<title>([^<]*)<\/title>/.exec(svg)?.[1] ?? "";
  /** XML 1.0, 2.2 and 2.4. */
  const NOT_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]|\]\]>|&(?!#?\w+;)/u;

  test.each([
    ["]]>", "]]>"],
    ["a]]>b]]>", "a]]>b]]>"],
    ["<![CDATA[x]]>", "<![CDATA[x]]>"],
    ["a & b &amp; c", "a & b &amp; c"],
    ["<b>'\"</b>", "<b>'\"</b>"],
    ["a\u0000b\u0008c\u001bd", "a b c d"],
    ["a\ud800b\udc00", "a b"],
    ["a\ufffeb\uffff", "a b"],
    ["a\u{1fffe}b\u{10ffff}", "a\u{1fffe}b\u{10ffff}"],
    ["a\nb\tc\rd", "a b c d"],
    ["a\u0085b\u2028c", "a b\u2028c"],
    ["日本 😀 עברית", "日本 😀 עברית"],
  ])("%j", (text, shown) => {
    const svg = badgeSvg({ ...FACE, label: "", message: text });
    expect(svg).not.toMatch(NOT_XML);
    expect(decoded(titleOf(svg))).toBe(shown);
  });

  test("any text", () => {
    const unit = fc.oneof(
      fc.constantFrom("]", ">", "<", "&", '"'),
      fc.nat(0xffff).map((code) => String.fromCharCode(code)),
    );
    fc.assert(
      fc.property(fc.string({ unit }), fc.string({ unit }), (label, message) => {
        for (const style of ["flat", "for-the-badge"] as const)
          expect(badgeSvg({ ...FACE, style, label, message })).not.toMatch(NOT_XML);
      }),
    );
  });
});

test("text is measured by its letters, whatever its script", () => {
  expect(textWidth("iii", 11)).toBeLessThan(textWidth("www", 11));
  expect(textWidth("e\u0301", 11)).toBe(textWidth("e", 11));
  expect(textWidth("日本", 11)).toBe(22);
});

describe("among packages of one name", () => {
  const of = (libraryType: PublicPackage["libraryType"], kind: PublicPackage["public"]) =>
    ({ libraryType, public: kind }) as PublicPackage;

  test("the only public one is meant", () => {
    expect(choosePublic([of("npm", "badge")], "badge")?.libraryType).toBe("npm");
    expect(choosePublic([of("npm", "badge"), of("pypi", "page")], "page")?.libraryType).toBe("pypi");
  });

  test("none is meant where several are public, or none", () => {
    expect(choosePublic([of("npm", "badge"), of("pypi", "page")], "badge")).toBeUndefined();
    expect(choosePublic([of("npm", "badge")], "page")).toBeUndefined();
    expect(choosePublic([], "badge")).toBeUndefined();
  });
});

describe("the lines to copy", () => {
  const { badge, page } = publicAddresses("https://stats.example/base", {
    owner: "acme",
    name: "@acme/web",
    type: "npm",
  });

  test("name the package in one segment, below a proxy's prefix", () => {
    expect(badge).toBe("https://stats.example/base/badge/acme/%40acme%2Fweb.svg?type=npm");
    expect(page).toBe("https://stats.example/base/p/acme/%40acme%2Fweb?type=npm");
  });

  test("lead to the page where there is one", () => {
    expect(badgeSnippets({ badge }).Markdown).toBe(`![downloads](${badge})`);
    const snippets = badgeSnippets({ badge, page });
    expect(snippets.Markdown).toBe(`[![downloads](${badge})](${page})`);
    expect(snippets.HTML).toBe(`<a href="${page}"><img src="${badge}" alt="downloads"></a>`);
    expect(snippets.reStructuredText).toBe(`.. image:: ${badge}\n   :target: ${page}\n   :alt: downloads`);
  });
});

const PROXY = "10.0.0.1";

const request = (remoteAddress: string, forwardedFor = "") =>
  ({
    req: { socket: { remoteAddress }, headers: { "x-forwarded-for": forwardedFor } },
  }) as unknown as ApiContext;

async function refusedOf(contexts: readonly ApiContext[]): Promise<number> {
  const limit = limitByAddress((address) => address === PROXY);
  const settled = await Promise.allSettled(contexts.map((ctx) => limit(ctx)));
  const refused = settled.flatMap((each) => (each.status === "rejected" ? [each.reason as object] : []));
  for (const each of refused)
    expect(each).toMatchObject({ code: "rate-limited", retryAfterSeconds: expect.any(Number) as number });
  return refused.length;
}

const many = (make: (index: number) => ApiContext) =>
  Array.from({ length: REQUESTS_MAX + 7 }, (_, at) => make(at));

test("an address is refused after its requests of a minute", async () => {
  expect(await refusedOf(many(() => request("192.0.2.1")))).toBe(7);
});

test("a header does not help who is no trusted proxy", async () => {
  expect(await refusedOf(many((at) => request("192.0.2.1", `198.51.100.${at % 250}`)))).toBe(7);
});

test("behind a trusted proxy each caller has requests of its own", async () => {
  expect(await refusedOf(many((at) => request(PROXY, `198.51.100.${at % 250}`)))).toBe(0);
  expect(await refusedOf(many(() => request(PROXY, "198.51.100.1")))).toBe(7);
});
