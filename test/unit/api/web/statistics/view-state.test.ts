import { describe, expect, test } from "vitest";
import { addressOf, path, withQuery } from "../../../../../api/web/address.js";
import type { Visit } from "../../../../../api/web/page.js";
import { groupDays } from "../../../../../api/dashboard/overview/by-package.js";
import { DAYS_INTERVALS } from "../../../../../schemas/contracts/statistics.js";
import { cellsOf, columnsOf } from "../../../../../api/web/charts/second-line.js";
import { fileName } from "../../../../../api/web/statistics/bar-list.js";
import { changeBetween } from "../../../../../api/web/statistics/compared-days.js";
import { presetOf } from "../../../../../api/web/statistics/page-range.js";
import { linkToggling, linkWith, queryOf, readState } from "../../../../../api/web/statistics/view-state.js";
import { testTable } from "../../../../support/test-table.js";

const NOW = new Date("2026-11-22T12:00:00Z");

function visitAt(search: string): Visit {
  const href = (pathname: string) => addressOf("https://stats.example/tools", pathname);
  return { here: "/o/acme/packages/web", query: new URLSearchParams(search), href } as unknown as Visit;
}

describe("the state of a page", () => {
  test("is the last 30 days against the same weekdays before, by day, unless its address says otherwise", () => {
    expect(readState(visitAt(""), { now: NOW })).toEqual({
      startDate: "2026-10-24",
      endDate: "2026-11-23",
      interval: "day",
      compare: "previous-weekdays",
      automated: "include",
      versions: "exact",
      filters: [],
      metric: "downloads",
    });
  });

  test("goes to the API with its filters, those of one name together, and without what is the page's alone", () => {
    const state = readState(visitAt("country=DE&country=FR&variable.mirror=eu&metric=views&unknown=1"), {
      now: NOW,
    });
    expect(queryOf(state)).toEqual({
      startDate: "2026-10-24",
      endDate: "2026-11-23",
      interval: "day",
      compare: "previous-weekdays",
      automated: "include",
      country: ["DE", "FR"],
      "variable.mirror": ["eu"],
    });
  });

  const daysOf = (search: string) => {
    const { startDate, endDate } = readState(visitAt(search), { now: NOW });
    return `${startDate} to ${endDate}`;
  };

  testTable("%s is %s, the end exclusive", daysOf, [
    ["days=90", "2026-08-25 to 2026-11-23"],
    ["month=previous", "2026-10-01 to 2026-11-01"],
    ["startDate=2026-11-01&lastDate=2026-11-03", "2026-11-01 to 2026-11-04"],
    ["days=9999", "2026-10-24 to 2026-11-23"],
    ["startDate=2026-11-01&lastDate=soon", "2026-11-01 to soon"],
  ]);

  test("is of a preset where its address names one or no range, and of none where it names days", () => {
    const shown = ["", "days=90&country=DE", "month=current", "startDate=2026-11-01", "days=8"];
    expect(shown.map((search) => presetOf(new URLSearchParams(search))?.label)).toEqual([
      "30 days",
      "90 days",
      "This month",
      undefined,
      undefined,
    ]);
  });

  test("groups long ranges by week, and one day by hour where the page can", () => {
    expect(readState(visitAt("startDate=2026-01-01&endDate=2026-11-01"), { now: NOW }).interval).toBe("week");
    const day = visitAt("startDate=2026-11-01&lastDate=2026-11-01");
    expect(readState(day).interval).toBe("hour");
    expect(readState(day, { intervals: DAYS_INTERVALS }).interval).toBe("day");
    expect(readState(visitAt("days=4&interval=hour")).interval).toBe("day");
  });
});

describe("a link", () => {
  test("adds a filter, or takes it away if it is set, and begins its list anew", () => {
    const germany = [{ name: "country", value: "DE" }];
    expect(linkToggling(visitAt("compare=year&after=x"), germany)).toBe(
      "/tools/dashboard/o/acme/packages/web?compare=year&country=DE",
    );
    expect(linkToggling(visitAt("country=FR&country=DE"), germany)).toBe(
      "/tools/dashboard/o/acme/packages/web?country=FR",
    );
  });

  test("changes a parameter and keeps the others", () => {
    expect(linkWith(visitAt("country=DE&interval=day"), { interval: "week" })).toBe(
      "/tools/dashboard/o/acme/packages/web?country=DE&interval=week",
    );
  });

  test("has encoded segments: a name may contain a slash or a question mark", () => {
    expect(path`/o/${"acme"}/packages/${"a/b?c"}`).toBe("/o/acme/packages/a%2Fb%3Fc");
    expect(withQuery("/o", { one: "a&b", none: undefined, two: ["1", "2"] })).toBe(
      "/o?one=a%26b&two=1&two=2",
    );
  });
});

test.each([
  ["day", [1, 2, 3, 4]],
  ["week", [3, 7]],
  ["month", [6, 4]],
] as const)("days are drawn by %s, weeks from Monday", (interval, sums) => {
  // 30 May 2026 is a Saturday.
  const places = groupDays([{ name: "web", days: [1, 2, 3, 4] }], { range: RANGES[interval], interval });
  expect(places.map(({ values }) => values[0])).toEqual(sums);
});

const RANGES = {
  day: { startDate: "2026-05-30", endDate: "2026-06-03" },
  week: { startDate: "2026-05-30", endDate: "2026-06-03" },
  month: { startDate: "2026-05-29", endDate: "2026-06-02" },
};

test("a file is named by its package, its list, and its first and last day", () => {
  const state = { startDate: "2026-11-01", endDate: "2026-11-08" };
  const here = "/o/acme/packages/%40acme%2Fweb/all/country";
  expect(fileName({ here }, { state, list: "country" })).toBe(
    "acme-web-country-2026-11-01-to-2026-11-07.csv",
  );
  expect(fileName({ here: "/o/acme/packages/web" }, { state })).toBe(
    "web-total-2026-11-01-to-2026-11-07.csv",
  );
  expect(fileName({ here: "/o/acme/all/version" }, { state, list: "version" })).toBe(
    "acme-version-2026-11-01-to-2026-11-07.csv",
  );
});

test.each([
  [150, 100, 0.5],
  [50, 100, -0.5],
  [0, 0, 0],
  [5, 0, null],
])("%i against %i is a change by %s", (now, before, change) => {
  expect(changeBetween(now, before)).toBe(change);
});

describe("the second line of a chart", () => {
  const date = "2026-11-02";
  const at = { value: 30, index: 0, interval: "day", isOpen: false } as const;

  test("is of other days, with their date and the change, which a day that grows has not", () => {
    const days = { of: "days", name: "Previous period", places: [{ date, value: 20 }] } as const;
    expect(columnsOf(days).map(({ name }) => name)).toEqual(["Previous period", "Compared with", "Change"]);
    expect(cellsOf(days, at)).toEqual(["20", "2 Nov 2026", "+50 %"]);
    expect(cellsOf(days, { ...at, isOpen: true })).toEqual(["20", "2 Nov 2026", ""]);
    expect(cellsOf(days, { ...at, index: 1 })).toEqual(["", "", ""]);
  });

  test("is of another package, with the ratio of both", () => {
    const package_ = {
      of: "package",
      name: "cli",
      places: [
        { date, value: 20 },
        { date, value: 0 },
      ],
    } as const;
    expect(columnsOf(package_).map(({ name }) => name)).toEqual(["cli", "Ratio"]);
    expect(cellsOf(package_, at)).toEqual(["20", "1.50"]);
    expect(cellsOf(package_, { ...at, index: 1 })).toEqual(["0", ""]);
  });
});
