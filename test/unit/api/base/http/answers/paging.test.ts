import { describe, expect, test } from "vitest";
import {
  LIST_QUERY,
  PAGE_QUERY,
  listPage,
  pageBody,
  pageOf,
} from "../../../../../../api/base/http/answers/paging.js";
import { readQuery } from "../../../../../../api/base/http/answers/query-parameters.js";
import type { ApiContext } from "../../../../../../api/base/http/route.js";
import { testTable } from "../../../../../support/test-table.js";

const ID = "01990000-0000-7000-8000-000000000001";

const parsePage = (query: Record<string, string | string[]>) =>
  pageOf(readQuery(query, { query: PAGE_QUERY }));

describe("the page of a query", () => {
  testTable("reads %j", parsePage, [
    [{}, { perPage: 100 }],
    [{ per_page: "1" }, { perPage: 1 }],
    [{ per_page: "1000" }, { perPage: 1000 }],
    [
      { after: ID, per_page: "7" },
      { after: ID, perPage: 7 },
    ],
  ]);

  test.each([
    ...["0", "1001", "-1", "1.5", "", "ten", ["1", "2"]].map((size) => ({ per_page: size })),
    ...["", "yesterday", [ID, ID], `${ID}'`].map((after) => ({ after })),
  ])("rejects %j", (query) => {
    expect(() => parsePage(query)).toThrow(expect.objectContaining({ code: "invalid-query" }));
  });
});

describe("pageBody", () => {
  const ctx = {
    state: { publicBase: "https://api.example/below" },
    path: "/v2/pixels/acme",
    querystring: "status=done&after=x",
  } as unknown as ApiContext;
  const rows = ["c", "b", "a"].map((id) => ({ id }));
  const record = ({ id }: { id: string }) => id;

  test("names the next page by the last entry shown, and keeps the other parameters", () => {
    expect(pageBody(ctx, { name: "pixels", rows, page: { perPage: 2 }, record })).toEqual({
      pixels: ["c", "b"],
      next: "https://api.example/below/v2/pixels/acme?status=done&after=b&per_page=2",
    });
  });

  test("names no size of the next page that could not be asked for", () => {
    const longer = { name: "pixels", rows, page: { perPage: 100_000 }, record, more: true };
    expect(pageBody(ctx, longer)["next"]).toBe(
      "https://api.example/below/v2/pixels/acme?status=done&after=a",
    );
  });

  test("has no next page when nothing is left", () => {
    expect(pageBody(ctx, { name: "pixels", rows, page: { perPage: 3 }, record })).toEqual({
      pixels: ["c", "b", "a"],
    });
    expect(pageBody(ctx, { name: "pixels", rows: [], page: { perPage: 3 }, record })).toEqual({ pixels: [] });
  });
});

const ENTRIES = ["a", "b", "c", "d", "e"];

function listOf(query: Record<string, string | string[]>) {
  const headers: Record<string, string> = {};
  const ctx = {
    querystring: new URLSearchParams(query as Record<string, string>).toString(),
    path: "/v1/packages",
    state: { publicBase: "https://api.example/below" },
    set: (name: string, value: string) => (headers[name] = value),
  } as unknown as ApiContext;
  const { short: _, ...known } = query;
  const asked = readQuery(known, { query: LIST_QUERY });
  return { entries: listPage({ ctx, query: asked }, ENTRIES, (entry) => entry), link: headers["Link"] };
}

describe("listPage", () => {
  test("answers all entries without a limit, and no link", () => {
    expect(listOf({})).toEqual({ entries: ENTRIES, link: undefined });
    expect(listOf({ after: "b" })).toEqual({ entries: ["c", "d", "e"], link: undefined });
  });

  test("leads through the list page by page, keeping other parameters", () => {
    const first = listOf({ limit: "2", short: "true" });
    expect(first.entries).toEqual(["a", "b"]);
    const next = "https://api.example/below/v1/packages?limit=2&short=true&after=b";
    expect(first.link).toBe(`<${next}>; rel="next"`);
    expect(listOf({ limit: "2", after: "b" }).entries).toEqual(["c", "d"]);
    expect(listOf({ limit: "2", after: "d" })).toEqual({ entries: ["e"], link: undefined });
    expect(listOf({ limit: "1", after: "e" })).toEqual({ entries: [], link: undefined });
  });

  test("has no link where the page ends with the list", () => {
    expect(listOf({ limit: "5" })).toEqual({ entries: ENTRIES, link: undefined });
  });

  test.each([
    ...["0", "1001", "ten", ["1", "2"]].map((limit) => ({ limit })),
    ...["x", ["a", "b"]].map((after) => ({ after })),
  ])("rejects %j", (query) => {
    expect(() => listOf(query as Record<string, string>)).toThrow(
      expect.objectContaining({ code: "invalid-query" }),
    );
  });
});
