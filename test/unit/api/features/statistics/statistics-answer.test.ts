import { expect, test } from "vitest";
import {
  rowOf,
  statisticsAnswer,
  eventsFromIn,
} from "../../../../../api/features/statistics/statistics-answer.js";
import { STATISTICS_LISTS } from "../../../../../schemas/contracts/breakdowns.js";

const listOf = (name: string) => STATISTICS_LISTS.find((list) => list.name === name)!;

test("a row has its share of all, and its change against before", () => {
  const of = { list: listOf("country"), measure: "downloads" as const, total: 200 };
  expect(rowOf({ values: ["DE"], count: 50, compared: 50, before: 40 }, of)).toEqual({
    country: "DE",
    downloads: 50,
    share: 0.25,
    change: 0.25,
  });
  expect(rowOf({ values: ["DE"], count: 50, compared: 50, before: 0 }, of).change).toBeNull();
  // The last day is not over: its downloads count, and are not compared.
  expect(rowOf({ values: ["DE"], count: 50, compared: 20, before: 40 }, of).change).toBe(-0.5);
});

test("a value that may be absent is absent where it is empty, and another is there", () => {
  const client = { list: listOf("client"), measure: "downloads" as const, total: 1 };
  expect(rowOf({ values: ["go", ""], count: 1, compared: 1, before: 0 }, client)).not.toHaveProperty(
    "client_version",
  );
  const variable = { list: listOf("variable"), measure: "downloads" as const, total: 1 };
  expect(rowOf({ values: ["os", ""], count: 1, compared: 1, before: 0 }, variable)).toMatchObject({
    variable: "os",
    value: "",
  });
});

test("every bucket is there, and every list, without events too", () => {
  const totals = { downloads: 0, views: 0, addresses: 0, companies: 0 };
  const answer = statisticsAnswer(
    {
      range: { startDate: "2026-11-01", endDate: "2026-11-04" },
      before: { startDate: "2026-10-29", endDate: "2026-11-01" },
      interval: "day",
    },
    {
      completeThrough: "2026-11-04T00:00:00.000000Z",
      scope: { packages: ["a"] },
      read: {
        now: { totals, buckets: new Map([["2026-11-02", { downloads: 2, views: 1, addresses: 1 }]]) },
        before: { totals, buckets: new Map() },
        lists: new Map(),
      },
    },
  );
  const zeros = { downloads: 0, views: 0, unique_addresses: 0 };
  expect(answer.series).toEqual([
    { date: "2026-11-01", ...zeros },
    { date: "2026-11-02", downloads: 2, views: 1, unique_addresses: 1 },
    { date: "2026-11-03", ...zeros },
  ]);
  expect(answer.compare?.series.map(({ date }) => date)).toEqual(["2026-10-29", "2026-10-30", "2026-10-31"]);
  expect(Object.keys(answer.breakdowns)).toEqual(STATISTICS_LISTS.map(({ name }) => name));
});

const range = { startDate: "2026-08-10", endDate: "2026-09-10" };
const before = { startDate: "2026-07-10", endDate: "2026-08-10" };
const filters = [{ column: "country", values: ["DE"] }];
const packages = { scope: { pixels: [] }, eventsFrom: "2026-08-01" };

test("numbers that come from events say from which day on there are any", () => {
  const asked = { range: { ...range, startDate: "2026-07-31" }, before: undefined };
  expect(eventsFromIn({ ...asked, filters }, packages)).toBe("2026-08-01");
  expect(eventsFromIn({ ...asked, filters: [] }, { ...packages, scope: { pixels: ["id"] } })).toBe(
    "2026-08-01",
  );
  expect(eventsFromIn({ range, before, filters }, packages)).toBe("2026-08-01");
});

test("nothing is said where every day has its numbers", () => {
  const old = { range: { ...range, startDate: "2026-01-01" }, before };
  expect(eventsFromIn({ ...old, filters: [] }, packages)).toBeUndefined();
  expect(eventsFromIn({ range, before: undefined, filters }, packages)).toBeUndefined();
  expect(eventsFromIn({ ...old, filters }, { ...packages, eventsFrom: undefined })).toBeUndefined();
});
