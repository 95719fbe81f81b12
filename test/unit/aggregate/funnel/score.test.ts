import { describe, expect, test } from "vitest";
import { score, type DayActivity } from "../../../support/funnel/stage-facts.js";

const TODAY = 20_000;
const at = (age: number, total: number, more: Partial<DayActivity> = {}): DayActivity => ({
  day: TODAY - age,
  kind: "package",
  importance: "medium",
  total,
  ...more,
});
const view = { kind: "pixel" } as const;
const days = (count: number, total: number, more: Partial<DayActivity> = {}) =>
  Array.from({ length: count }, (_, age) => at(age, total, more));

describe("a score", () => {
  test.each<[string, DayActivity[], number]>([
    ["is nothing without activity", [], 0],
    ["is 5 for a download", [at(0, 1)], 5],
    ["is 0.5 for a view", [at(0, 1, view)], 0.5],
    ["is 2 for a download of low importance", [at(0, 1, { importance: "low" })], 2],
    ["is 8 for a download of high importance", [at(0, 1, { importance: "high" })], 8],
    ["is 0.25 for a view of low importance", [at(0, 1, { ...view, importance: "low" })], 0.25],
    ["is 1 for a view of high importance", [at(0, 1, { ...view, importance: "high" })], 1],

    ["counts 2 downloads of a day", [at(0, 2)], 10],
    ["counts 10 points of a day's downloads at most", [at(0, 3)], 10],
    ["counts them over all packages together", [at(0, 1), at(0, 2, { importance: "low" })], 9],
    ["stops at 10 over all packages together", [at(0, 1), at(0, 1, { importance: "high" })], 10],
    ["reaches 10 with 5 downloads of low importance", [at(0, 5, { importance: "low" })], 10],
    ["counts 10 of 2 downloads of high importance", [at(0, 2, { importance: "high" })], 10],
    ["counts 6 views of a day", [at(0, 6, view)], 3],
    ["counts 3 points of a day's views at most", [at(0, 7, view)], 3],
    ["counts views beside downloads", [at(0, 9), at(0, 9, view)], 13],

    ["counts 50 points of downloads", days(5, 2), 50],
    ["counts 50 points of downloads at most", days(6, 2), 50],
    ["counts 18 points of views on 6 days", days(6, 6, view), 18],
    ["counts 20 points of views at most", days(7, 6, view), 20],
    ["is 70 at most", [...days(30, 100), ...days(30, 100, view)], 70],

    ["counts what was 29 days ago", [at(29, 1)], 5],
    ["leaves out what was 30 days ago", [at(30, 1)], 0],
    ["leaves out what was 31 days ago", [at(31, 1, view)], 0],
    ["leaves out what is to come", [at(-1, 1)], 0],
  ])("%s", (_, activity, points) => {
    expect(score(activity, TODAY)).toBe(points);
  });
});
