import { describe, expect, test } from "vitest";
import { classify } from "../../../../aggregate/funnel/decide-company.js";
import { type DayActivity, stageFacts } from "../../../support/funnel/stage-facts.js";
import type { StageBefore } from "../../../../schemas/records/funnel.js";

/** A Wednesday. */
const TODAY = Date.parse("2026-03-11") / 86_400_000;
const NEW: StageBefore = { stage: null, engaged: false };
const ENGAGED: StageBefore = { stage: "investigation", engaged: true };
const FALLEN_BACK: StageBefore = { stage: "interest", engaged: true };
const INTERESTED: StageBefore = { stage: "interest", engaged: false };
const INACTIVE: StageBefore = { stage: "inactive", engaged: true };

const of =
  (kind: DayActivity["kind"], importance: DayActivity["importance"] = "medium") =>
  (total: number, ...ages: number[]): DayActivity[] =>
    ages.map((age) => ({ day: TODAY - age, kind, importance, total }));
const downloads = of("package");
const views = of("pixel");

type Case = [string, DayActivity[], StageBefore, string];

const CONSECUTIVE = "investigation by views-in-consecutive-weeks";
const THREE_WINDOWS = "ongoing-usage by activity-in-three-windows";
const BOTH = "experimentation by downloads-and-view";

const check = (_: string, activity: readonly DayActivity[], before: StageBefore, expected: string) =>
  expect(outcome(activity, before)).toBe(expected);

function outcome(activity: readonly DayActivity[], before: StageBefore): string {
  const placed = classify(stageFacts(activity, TODAY), before);
  return placed === undefined ? "as it was" : `${placed.stage} by ${placed.cause}`;
}

/** Ages in days; -1 is tomorrow. */
test.each([
  ["without a stage", NEW, "view", views, [0, 59], "interest by view"],
  ["without a stage", NEW, "view", views, [-1, 60, 61], "as it was"],
  ["without a stage", NEW, "download", downloads, [0, 29], "investigation by download"],
  ["without a stage", NEW, "download", downloads, [30, 31], "as it was"],
  ["that was engaged", ENGAGED, "view", views, [59], "interest by view"],
  ["that was engaged", ENGAGED, "view", views, [60], "inactive by no-activity"],
  ["that was engaged", ENGAGED, "download", downloads, [29], "investigation by download"],
  ["that was engaged", ENGAGED, "download", downloads, [30, 59], "as it was"],
  ["that was engaged", ENGAGED, "download", downloads, [60, 61], "inactive by no-activity"],
] as const)("a company %s, with %s %j days ago", (_, before, __, kind, ages, expected) => {
  for (const age of ages) expect(outcome(kind(1, age), before), `age ${age}`).toBe(expected);
});

describe("a company that nothing was said of", () => {
  test.each<Case>([
    ["without activity", [], NEW, "as it was"],
    ["with a hundred views of a day", views(100, 3), NEW, "interest by view"],
    ["with two downloads of a day, which are 10 points", downloads(2, 0), NEW, "investigation by download"],
    ["with 10 points and half a point", [...downloads(2, 0), ...views(1, 0)], NEW, "investigation by score"],
    ["with 10 points of views in a week", [...views(6, 3, 4, 5), ...views(2, 6)], NEW, "interest by view"],
    [
      "with 10.5 points of views in a week",
      [...views(6, 3, 4, 5), ...views(3, 6)],
      NEW,
      "investigation by score",
    ],
    ["with 9 points of views in one week", views(6, 0, 1, 2), NEW, "interest by view"],
    ["with 12 points of views in two weeks", views(6, 0, 1, 2, 3), NEW, "investigation by score"],

    ["with views on a Sunday and a Monday", views(1, 2, 3), NEW, CONSECUTIVE],
    ["with views on a Monday and the Sunday after", views(1, 3, 9), NEW, "interest by view"],
    ["with views on a Monday and the Sunday 13 days on", views(1, 3, 16), NEW, CONSECUTIVE],
    ["with views a week apart", views(1, 3, 17), NEW, "interest by view"],
    ["with views 59 days ago and in the week after", views(1, 59, 52), NEW, CONSECUTIVE],
    ["with views 60 days ago and in the week after", views(1, 60, 53), NEW, "interest by view"],
    ["with views in consecutive weeks, the later still to come", views(1, 2, -5), NEW, "interest by view"],
    ["with downloads in consecutive weeks, and long ago", downloads(1, 40, 47), NEW, "as it was"],
  ])("%s", check);
});

describe("a company that comes closer", () => {
  test.each<Case>([
    ["with downloads on two days", downloads(1, 0, 1), NEW, "investigation by download"],
    ["with downloads on two days and a view", [...downloads(1, 0, 29), ...views(1, 29)], NEW, BOTH],
    [
      "with two downloads of one day and a view",
      [...downloads(2, 5), ...views(1, 5)],
      NEW,
      "investigation by score",
    ],
    [
      "with downloads on two days, one of them 30 days ago, and a view",
      [...downloads(1, 0, 30), ...views(1, 0)],
      NEW,
      "investigation by download",
    ],
    [
      "with downloads on two days and a view 30 days ago",
      [...downloads(1, 0, 1), ...views(1, 30)],
      NEW,
      "investigation by download",
    ],
    ["with 35 points", downloads(1, 0, 1, 2, 3, 4, 5, 6), NEW, "investigation by score"],
    ["with 40 points", downloads(2, 0, 1, 2, 3), NEW, "experimentation by score"],
    ["with 50 points of downloads alone", downloads(9, 0, 1, 2, 3, 4, 5, 6), NEW, "experimentation by score"],
    ["with 20 points of views alone", views(9, 0, 1, 2, 3, 4, 5, 6), NEW, "investigation by score"],
    [
      "with 69.75 points",
      [
        ...downloads(2, 0, 1, 2, 3, 4),
        ...views(6, 0, 1, 2, 3, 4, 5),
        ...views(3, 6),
        ...of("pixel", "low")(1, 7),
      ],
      NEW,
      "experimentation by score",
    ],
    [
      "with 70 points",
      [...downloads(2, 0, 1, 2, 3, 4), ...views(6, 0, 1, 2, 3, 4, 5), ...views(4, 6)],
      NEW,
      "ongoing-usage by score",
    ],
    ["with a download in each of three windows", downloads(1, 29, 59, 89), NEW, THREE_WINDOWS],
    ["with one in the first days of each", downloads(1, 0, 30, 60), NEW, THREE_WINDOWS],
    ["with the last window left out", downloads(1, 29, 59, 90), NEW, "investigation by download"],
    ["with the middle window left out", downloads(1, 29, 60, 89), NEW, "investigation by download"],
    ["with the first window left out", downloads(1, 30, 59, 89), NEW, "as it was"],
    [
      "with views in each and a download in the first",
      [...downloads(1, 10), ...views(1, 40, 70)],
      NEW,
      THREE_WINDOWS,
    ],
    [
      "with views in each and a download in the second",
      [...downloads(1, 40), ...views(1, 10, 70)],
      NEW,
      "interest by view",
    ],
  ])("%s", check);
});

describe("a company that leaves", () => {
  test.each<Case>([
    ["that fell back to interest before", views(1, 60), FALLEN_BACK, "inactive by no-activity"],
    ["that never came further than interest", views(1, 60), INTERESTED, "as it was"],
    [
      "that used it for long",
      downloads(1, 60, 75, 89),
      { ...ENGAGED, stage: "ongoing-usage" },
      "inactive by no-activity",
    ],
    ["of whose activity nothing is left", [], ENGAGED, "inactive by no-activity"],
    ["that has activity to come", downloads(1, -1, 60), ENGAGED, "inactive by no-activity"],
    ["that is inactive already", downloads(1, 200), INACTIVE, "inactive by no-activity"],
  ])("%s", check);
});

describe("a company that comes back", () => {
  test.each<Case>([
    ["with a view", views(1, 0, 100), INACTIVE, "interest by view"],
    ["with a download", downloads(1, 0, 100), INACTIVE, "investigation by download"],
    ["with downloads and a view", [...downloads(1, 0, 1), ...views(1, 0)], INACTIVE, BOTH],
    [
      "with 70 points",
      [...downloads(2, 0, 1, 2, 3, 4), ...views(9, 0, 1, 2, 3, 4, 5, 6)],
      INACTIVE,
      "ongoing-usage by score",
    ],
    ["with a download that was sent late, 45 days old", downloads(1, 45), INACTIVE, "as it was"],
  ])("%s", check);
});
