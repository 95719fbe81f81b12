import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  classify,
  decideCompany,
  isEngaged,
  POINTS,
  POINTS_MAX,
} from "../../../../aggregate/funnel/decide-company.js";
import { replayDays } from "../../../../aggregate/funnel/replay-days.js";
import type { ActiveDay, CompanyFacts, PastChange, StageBefore } from "../../../../schemas/records/funnel.js";
import { type DayActivity, stageFacts } from "../../../support/funnel/stage-facts.js";

const DAY_MS = 86_400_000;
const FIRST = Date.parse("2024-02-20") / DAY_MS;
const dateOf = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10);

const activity: fc.Arbitrary<DayActivity> = fc.record({
  day: fc.oneof(fc.nat(40), fc.nat(400)).map((day) => FIRST + day),
  kind: fc.constantFrom("package", "pixel"),
  importance: fc.constantFrom("low", "medium", "high"),
  total: fc.integer({ min: 1, max: 6 }),
});

/** The rules in words, asked at the end of each day. */
function changesByWords(all: readonly DayActivity[], until: number): PastChange[] {
  const changes: PastChange[] = [];
  let before: StageBefore = { stage: null, engaged: false };
  for (let today = FIRST; today < until; today += 1) {
    const placed = classify(stageFacts(all, today), before);
    if (placed === undefined || placed.stage === before.stage) continue;
    changes.push({ date: dateOf(today), newStage: placed.stage, cause: placed.cause });
    before = { stage: placed.stage, engaged: before.engaged || isEngaged(placed.stage) };
  }
  return changes;
}

function activeDays(all: readonly DayActivity[]): ActiveDay[] {
  const ofDay = (day: number, wanted: DayActivity["kind"]) =>
    all.filter((each) => each.day === day && each.kind === wanted);
  const count = (some: readonly DayActivity[]) => some.reduce((sum, { total }) => sum + total, 0);
  const points = (some: readonly DayActivity[], kind: DayActivity["kind"]) =>
    Math.min(
      POINTS_MAX[kind].day,
      some.reduce((sum, { total, importance }) => sum + total * POINTS[kind][importance], 0),
    );
  return [...new Set(all.map(({ day }) => day))]
    .sort((a, b) => a - b)
    .map((day) => {
      const [downloads, views] = [ofDay(day, "package"), ofDay(day, "pixel")];
      return {
        ...{ date: dateOf(day), downloads: count(downloads), views: count(views) },
        ...{ downloadPoints: points(downloads, "package"), viewPoints: points(views, "pixel") },
      };
    });
}

describe("the past of a company", () => {
  test("is what the rules would have said at the end of each day", () => {
    const until = fc.integer({ min: -5, max: 600 }).map((day) => FIRST + day);
    fc.assert(
      fc.property(fc.array(activity, { maxLength: 60 }), until, (all, end) => {
        expect(replayDays(activeDays(all), dateOf(end))).toEqual(changesByWords(all, end));
      }),
      { numRuns: 150, seed: 4 },
    );
  });

  test("ends before a day, and goes on after years without activity", () => {
    const download = { downloads: 1, views: 0, downloadPoints: 5, viewPoints: 0 };
    const days = ["2001-01-01", "2020-05-05"].map((date) => ({ date, ...download }));
    expect(replayDays(days, "2020-05-06").map(({ date, newStage }) => `${date} ${newStage}`)).toEqual([
      "2001-01-01 investigation",
      "2001-03-02 inactive",
      "2020-05-05 investigation",
    ]);
    expect(replayDays(days, "2001-01-01")).toEqual([]);
  });
});

describe("a company is due to have its past computed", () => {
  const facts: CompanyFacts = {
    ...{ domain: "acme.example", name: "Acme", score: 5, downloads: 1, views: 0, recentDownloads: 1 },
    ...{ downloadDays: 1, viewedLast30Days: false, viewedLast60Days: false, viewedInConsecutiveWeeks: false },
    ...{ activeWindows: [true, false, false], firstSeen: "2026-01-01", lastSeen: "2026-01-01" },
    ...{ past: "a", pastOfLastRun: "a" },
  };
  const stored = decideCompany(undefined, facts).company;
  const announced = stored && { ...stored, isDue: false };
  const fromPast = announced && { ...announced, stage: "inactive" as const, isAnnounced: false };

  test.each([
    ["new, with days before today", undefined, facts, true],
    ["new today", undefined, { ...facts, past: "0" }, false],
    ["with days as they were", announced, { ...facts, past: "with yesterday" }, false],
    ["with other days before its last run", announced, { ...facts, pastOfLastRun: "b" }, true],
    ["without any day that is left", announced, undefined, true],
    ["never announced, with a new day", fromPast, { ...facts, past: "b" }, true],
    ["due before", announced && { ...announced, isDue: true }, facts, true],
  ] as const)("%s", (_, before, seen, isDue) => {
    expect(decideCompany(before, seen).company?.isDue).toBe(isDue);
  });

  test("and a stage of the past alone is not announced to have ended when the past is taken back", () => {
    const held = fromPast && { ...fromPast, stage: "investigation" as const };
    expect(decideCompany(held, undefined)).toMatchObject({
      company: { stage: "investigation", isDue: true },
    });
    expect(decideCompany(held, undefined).change).toBeUndefined();
  });
});
