import { describe, expect, test } from "vitest";
import { keptFrom, oldestTime, removableBefore } from "../../../schemas/event-retention.js";

const at = (text: string) => Date.parse(text);

describe("the events that are kept", () => {
  test.each([
    ["2026-11-23T06:00:00Z", 30, "2026-10-01"],
    ["2026-11-30T23:59:59Z", 30, "2026-10-01"],
    ["2026-12-01T00:00:00Z", 30, "2026-11-01"],
    ["2026-03-01T00:00:00Z", 1, "2026-02-01"],
    ["2026-03-02T00:00:00Z", 1, "2026-03-01"],
    ["2026-11-23T06:00:00Z", 36_500, "1970-01-01"],
  ])("are those of whole months: at %s, for %i days, from %s on", (now, days, first) => {
    expect(keptFrom(at(now), days)).toBe(first);
  });

  test("are for at least as many days as the setting says, and go at most 33 days later", () => {
    for (let day = 0; day < 800; day++) {
      const now = at("2026-01-01") + day * 86_400_000;
      const kept = (now - at(removableBefore(now, 90))) / 86_400_000;
      expect(kept).toBeGreaterThanOrEqual(90);
      expect(kept).toBeLessThanOrEqual(90 + 33);
      expect(removableBefore(now, 90) <= keptFrom(now, 90)).toBe(true);
    }
  });
});

describe("the least time of a line", () => {
  test("follows from its receipt", () => {
    const oldest = oldestTime({ days: 30 });
    expect(oldest(at("2026-11-30T23:59:59Z"))).toBe(at("2026-10-01"));
    expect(oldest(at("2026-12-01T00:00:00Z"))).toBe(at("2026-11-01"));
  });

  test("is never before a day whose events were removed once", () => {
    expect(oldestTime({ days: 3_650, removedBefore: "2026-08-01" })(at("2026-12-01"))).toBe(at("2026-08-01"));
    expect(oldestTime({ removedBefore: "2026-08-01" })(at("2026-12-01"))).toBe(at("2026-08-01"));
    expect(oldestTime({ days: 30, removedBefore: "2026-08-01" })(at("2026-12-01"))).toBe(at("2026-11-01"));
  });

  test("is 1970 where events are kept for ever", () => {
    expect(oldestTime({})(at("2026-12-01"))).toBe(0);
  });
});
