import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { periodKind } from "../../../../../api/features/notifications/events/events.js";
import { isFar, medianOf } from "../../../../../api/features/notifications/events/downloads-changed.js";
import { shouldCorrect, shouldNotify } from "../../../../../api/features/notifications/should-notify.js";
import { isDue, lastPeriods, periodBefore } from "../../../../../api/features/notifications/periods.js";
import { outcomeOf } from "../../../../../api/features/notifications/start-notifications.js";
import {
  NOTIFICATION_EVENT_NAMES,
  type PeriodEvent,
} from "../../../../../schemas/contracts/notification-event.js";
import { DIGEST } from "../../../../support/notifications/hostile-data.js";
import { testTable } from "../../../../support/test-table.js";

describe("the last period that is over", () => {
  test.each<[PeriodEvent, string, string, string]>([
    ["weekly-digest", "2026-11-26T12:00:00Z", "2026-11-16", "2026-11-23"],
    ["weekly-digest", "2026-11-23T00:09:59Z", "2026-11-09", "2026-11-16"],
    ["weekly-digest", "2026-11-23T00:10:00Z", "2026-11-16", "2026-11-23"],
    ["weekly-digest", "2026-11-22T23:59:59Z", "2026-11-09", "2026-11-16"],
    ["weekly-digest", "2027-01-01T00:10:00Z", "2026-12-21", "2026-12-28"],
    ["monthly-digest", "2026-11-26T12:00:00Z", "2026-10-01", "2026-11-01"],
    ["monthly-digest", "2027-01-01T00:10:00Z", "2026-12-01", "2027-01-01"],
    ["monthly-digest", "2028-03-01T00:10:00Z", "2028-02-01", "2028-03-01"],
    ["new-companies", "2026-03-01T00:10:00Z", "2026-02-28", "2026-03-01"],
    ["downloads-changed", "2026-11-26T00:09:00Z", "2026-11-24", "2026-11-25"],
  ])("of %s at %s is from %s up to %s", (event, now, startDate, endDate) => {
    expect(lastPeriods(periodKind(event).unit, new Date(now)).at(-1)).toEqual({ startDate, endDate });
  });

  test("follows those before it without a gap", () => {
    for (const event of ["weekly-digest", "monthly-digest", "new-companies"] as const) {
      const periods = lastPeriods(periodKind(event).unit, new Date("2026-03-02T10:00:00Z"));
      for (const [nth, period] of periods.slice(1).entries()) {
        expect(period.startDate).toBe(periods[nth]?.endDate);
        expect(periodBefore(periodKind(event).unit, period)).toEqual(periods[nth]);
      }
    }
  });

  test("is due once its numbers are complete, for rules from before its end", () => {
    const week = { startDate: "2026-11-16", endDate: "2026-11-23" };
    const isDueFor = (since: string, completeThrough: string) =>
      isDue(week, { since: new Date(since), completeThrough });
    expect(isDueFor("2026-11-20T10:00:00Z", "2026-11-23T00:00:00.000000Z")).toBe(true);
    expect(isDueFor("2026-11-20T10:00:00Z", "2026-11-22T23:59:59.999999Z")).toBe(false);
    expect(isDueFor("2026-11-23T00:00:00Z", "2026-11-24T00:00:00.000000Z")).toBe(false);
    expect(isDueFor("2026-11-22T23:59:59Z", "2026-11-24T00:00:00.000000Z")).toBe(true);
  });
});

describe("a day against the weeks before", () => {
  testTable("has for %j the median %d", medianOf, [
    [[1, 2, 3, 4], 2.5],
    [[40, 10, 30, 20], 25],
    [[0, 0, 0, 100], 0],
    [[7, 7, 7, 7], 7],
    [[], 0],
  ]);

  test.each([
    { downloads: 150, median: 100, threshold: 50, far: true },
    { downloads: 149, median: 100, threshold: 50, far: false },
    { downloads: 50, median: 100, threshold: 50, far: true },
    { downloads: 51, median: 100, threshold: 50, far: false },
    { downloads: 0, median: 1000, threshold: 90, far: true },
    { downloads: 49, median: 10, threshold: 50, far: false },
    { downloads: 50, median: 10, threshold: 50, far: true },
    { downloads: 0, median: 49, threshold: 50, far: false },
    { downloads: 50, median: 0, threshold: 10_000, far: true },
    { downloads: 49, median: 0, threshold: 1, far: false },
  ])("with $downloads for $median at $threshold %: $far", ({ downloads, median, threshold, far }) => {
    const change = median > 0 ? (downloads - median) / median : null;
    expect(isFar({ downloads, median, change, threshold_percent: threshold })).toBe(far);
  });
});

describe("a correction", () => {
  const withDownloads = (downloads: number) => ({ ...DIGEST, totals: { ...DIGEST.totals, downloads } });

  test.each([
    [1000, 1010, false],
    [1000, 1011, true],
    [1000, 990, false],
    [1000, 989, true],
    [0, 1, true],
    [0, 0, false],
  ])("of %d to %d downloads is worth it: %s", (before, now, worth) => {
    expect(shouldCorrect("weekly-digest", withDownloads(before), withDownloads(now))).toBe(worth);
  });

  test("is worth it for one more new company", () => {
    expect(
      shouldCorrect("weekly-digest", DIGEST, { ...DIGEST, new_companies: DIGEST.new_companies + 1 }),
    ).toBe(true);
  });
});

test("a digest of nothing after nothing says nothing, and one of nothing after something does", () => {
  const none = { downloads: 0, views: 0, unique_addresses: 0, companies: 0 };
  expect(shouldNotify("weekly-digest", { ...DIGEST, totals: none, before: none })).toBe(false);
  expect(shouldNotify("weekly-digest", { ...DIGEST, totals: none })).toBe(true);
});

test("a message is tried again for about a day, and not at all after a refusal", () => {
  const later = { isSent: false, isFinal: false, error: "later" } as const;
  const delays = [0, 1, 2, 3, 4, 5, 6].map((attempts) => outcomeOf(later, attempts));
  expect(delays.map(({ state }) => state)).toEqual([...Array<string>(6).fill("pending"), "failed"]);
  const total = delays.reduce((sum, each) => sum + ("delayMs" in each ? (each.delayMs ?? 0) : 0), 0);
  expect(total / 3_600_000).toBeCloseTo(20.6, 1);
  expect(outcomeOf({ ...later, isFinal: true }, 0)).toEqual({ state: "failed", error: "later" });
});

describe("deploy/docs/how-to/notifications.md describes", () => {
  const page = readFileSync("deploy/docs/how-to/notifications.md", "utf8");
  test.each(NOTIFICATION_EVENT_NAMES)("%s", (event) => expect(page).toContain(`\n| \`${event}\` |`));
});
