import { describe, expect, test } from "vitest";
import { listPage } from "../../../../../api/http/answers/paging.js";
import type { ApiContext } from "../../../../../api/http/route.js";

const ENTRIES = ["a", "b", "c", "d", "e"];

function pageOf(query: Record<string, string | string[]>) {
  const headers: Record<string, string> = {};
  const ctx = {
    query,
    querystring: new URLSearchParams(query as Record<string, string>).toString(),
    path: "/v1/packages",
    state: { publicBase: "https://api.example/below" },
    set: (name: string, value: string) => (headers[name] = value),
  } as unknown as ApiContext;
  return { entries: listPage(ctx, ENTRIES, (entry) => entry), link: headers["Link"] };
}

describe("listPage", () => {
  test("answers all entries without a limit, and no link", () => {
    expect(pageOf({})).toEqual({ entries: ENTRIES, link: undefined });
    expect(pageOf({ after: "b" })).toEqual({ entries: ["c", "d", "e"], link: undefined });
  });

  test("leads through the list page by page, keeping other parameters", () => {
    const first = pageOf({ limit: "2", short: "true" });
    expect(first.entries).toEqual(["a", "b"]);
    const next = "https://api.example/below/v1/packages?limit=2&short=true&after=b";
    expect(first.link).toBe(`<${next}>; rel="next"`);
    expect(pageOf({ limit: "2", after: "b" }).entries).toEqual(["c", "d"]);
    expect(pageOf({ limit: "2", after: "d" })).toEqual({ entries: ["e"], link: undefined });
    expect(pageOf({ limit: "1", after: "e" })).toEqual({ entries: [], link: undefined });
  });

  test("has no link where the page ends with the list", () => {
    expect(pageOf({ limit: "5" })).toEqual({ entries: ENTRIES, link: undefined });
  });

  test.each([
    { limit: "0" },
    { limit: "1001" },
    { limit: "ten" },
    { limit: ["1", "2"] },
    { after: "x" },
    { after: ["a", "b"] },
  ])("refuses %j", (query) => {
    expect(() => pageOf(query as Record<string, string>)).toThrow(
      expect.objectContaining({ code: "invalid-query" }),
    );
  });
});
