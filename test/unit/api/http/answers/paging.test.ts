import { describe, expect, test } from "vitest";
import { pageBody, parsePage } from "../../../../../api/http/answers/paging.js";
import type { ApiContext } from "../../../../../api/http/route.js";

const ID = "01990000-0000-7000-8000-000000000001";

describe("parsePage", () => {
  test.each([
    [{}, { perPage: 100 }],
    [{ per_page: "1" }, { perPage: 1 }],
    [{ per_page: "1000" }, { perPage: 1000 }],
    [
      { after: ID, per_page: "7" },
      { after: ID, perPage: 7 },
    ],
  ])("reads %j", (query, page) => {
    expect(parsePage(query)).toEqual(page);
  });

  test.each([
    { per_page: "0" },
    { per_page: "1001" },
    { per_page: "-1" },
    { per_page: "1.5" },
    { per_page: "" },
    { per_page: "ten" },
    { per_page: ["1", "2"] },
    { after: "" },
    { after: "yesterday" },
    { after: [ID, ID] },
    { after: `${ID}'` },
  ])("refuses %j", (query) => {
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
