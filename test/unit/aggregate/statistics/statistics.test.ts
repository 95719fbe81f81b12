import { expect, test } from "vitest";
import {
  composeAddresses,
  composeEventLists,
  type EventLists,
  type LiveRows,
} from "../../../../aggregate/statistics/compose-from-events.js";
import { composeTableCounts } from "../../../../aggregate/statistics/compose-from-tables.js";
import { composeTableLists } from "../../../../aggregate/statistics/compose-table-lists.js";
import { BREAKDOWN_LIST, listsOf, STATISTICS_LISTS } from "../../../../schemas/contracts/breakdowns.js";
import { bucketsOf } from "../../../../aggregate/statistics/buckets.js";

const AGENTS = {
  name: "agent",
  title: "Downloads by user agent",
  values: [{ column: "user_agent", field: "agent" }],
} as const;

const grouping = { scheme: "semver", by: "exact" } as const;
const DOWNLOADS = { counted: { packages: true, pixels: false }, compares: "nothing", grouping } as const;

const TABLES = { grouping, compares: "nothing" } as const;
const ALL = { pixels: true, automated: "include" } as const;
const PACKAGES = { ...ALL, pixels: false };

const HOURS = "00 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 20 21 22 23".split(" ");

const liveRows: LiveRows = (columns, conditions = []) =>
  `SELECT ${columns.join(", ")}, sign FROM live WHERE ${["true", ...conditions].join(" AND ")}`;

test("a breakdown that is added to the list is a list of the statistics by itself", () => {
  const lists = listsOf([...BREAKDOWN_LIST, AGENTS]);
  expect(lists.map(({ name }) => name)).toContain("agent");
  const fromTables = composeTableLists(lists, PACKAGES, TABLES);
  expect(fromTables).toMatch(/breakdown IN \([^)]*'agent'\)/);
  const fromEvents = composeEventLists(liveRows, { lists, interval: "day", ...DOWNLOADS });
  expect(fromEvents).toContain("(agent_1)");
  expect(fromEvents).toMatch(/SELECT date, kind,.* user_agent, sign FROM live/);
});

test("a list of another name or column than a plain name is refused", () => {
  const wrong = listsOf([{ ...AGENTS, name: "agents'; DROP TABLE events" }]);
  expect(() => composeTableLists(wrong, ALL, TABLES)).toThrow("not a name");
  const column = listsOf([{ ...AGENTS, values: [{ column: "1) OR (1", field: "agent" }] }]);
  expect(() => composeEventLists(liveRows, { lists: column, interval: "day", ...DOWNLOADS })).toThrow(
    "not a name",
  );
});

test("what is searched and followed stands in parameters, not in the text", () => {
  const narrowing = { search: "'; DROP", after: { count: 7_654_321, values: ["'; DROP", "x"] } };
  const lists = STATISTICS_LISTS;
  const texts = [
    composeTableLists(lists, ALL, { ...narrowing, ...TABLES }),
    composeEventLists(liveRows, { lists, interval: "day", ...DOWNLOADS, ...narrowing }),
  ];
  for (const text of texts) {
    expect(text).not.toMatch(/DROP|7654321/);
    expect(text).toContain("{search:String}");
    expect(text).toContain("{afterCount:Int64}");
  }
});

test("events are left out where no pixels are counted", () => {
  for (const measures of ["amounts", "from-rows", "from-sets", "from-sets-and-rows"] as const) {
    const options = { interval: "week", measures, compares: "part" } as const;
    expect(composeTableCounts(PACKAGES, options)).not.toContain("FROM events");
    expect(composeTableCounts(ALL, options)).toContain("FROM events");
  }
  const ofViews = STATISTICS_LISTS.filter(({ counts }) => counts === "views");
  expect(composeTableLists(ofViews, PACKAGES, TABLES)).toBeUndefined();
});

test("sums that nothing can be in are not computed", () => {
  const sumsOf = (options: Pick<EventLists, "counted" | "compares">) =>
    composeEventLists(liveRows, { lists: [], interval: "day", grouping, ...options }).match(/sum(If)?\(/g)
      ?.length;
  expect(sumsOf(DOWNLOADS)).toBe(1);
  expect(sumsOf({ ...DOWNLOADS, compares: "all" })).toBe(2);
  expect(sumsOf({ ...DOWNLOADS, compares: "part" })).toBe(3);
  expect(sumsOf({ counted: { packages: true, pixels: true }, compares: "all" })).toBe(4);
});

test("weeks and months are cut at the beginning of each range", () => {
  expect(composeAddresses(liveRows, { interval: "week", compares: "all" })).toContain(
    "greatest(toMonday(date), {beforeStart:Date})",
  );
  const byMonth = { interval: "month", measures: "amounts", compares: "all" } as const;
  expect(composeTableCounts(ALL, byMonth)).toContain("greatest(toStartOfMonth(date), {start:Date})");
});

test.each([
  ["day", "2024-02-28", "2024-03-02", ["2024-02-28", "2024-02-29", "2024-03-01"]],
  // A Wednesday to a Tuesday.
  ["week", "2026-11-04", "2026-11-17", ["2026-11-04", "2026-11-09", "2026-11-16"]],
  ["week", "2026-11-02", "2026-11-09", ["2026-11-02"]],
  ["week", "2025-12-31", "2026-01-06", ["2025-12-31", "2026-01-05"]],
  ["hour", "2026-11-04", "2026-11-05", HOURS.map((hour) => `2026-11-04T${hour}`)],
  ["month", "2025-12-31", "2026-02-02", ["2025-12-31", "2026-01-01", "2026-02-01"]],
] as const)("by %s, %s to %s has these buckets", (interval, startDate, endDate, buckets) => {
  expect(bucketsOf({ startDate, endDate }, interval)).toEqual(buckets);
});
