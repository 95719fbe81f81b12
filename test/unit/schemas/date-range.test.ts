import { describe, expect, test } from "vitest";
import { parseDateRange, parseOptionalDateRange } from "../../../schemas/date-range.js";

describe("parseDateRange", () => {
  test.each<[string, string, number?]>([
    ["2026-08-01", "2026-08-02"],
    ["2026-08-01", "2026-09-01"],
    ["2026-12-31", "2027-01-01"],
    ["2024-02-29", "2024-03-01"],
    ["2024-01-01", "2025-01-01", 366],
    ["2023-06-01", "2024-06-01", 366],
    ["1970-01-01", "1970-01-02"],
    ["2148-12-31", "2149-01-01"],
    ["1969-12-31", "1970-01-02"],
    ["9999-11-30", "9999-12-31"],
  ])("reads %s to %s", (startDate, endDate, daysMax = 31) => {
    expect(parseDateRange({ startDate, endDate }, { daysMax })).toEqual({ startDate, endDate });
  });

  test.each([
    ["2026-02-30"],
    ["2026-02-29"],
    ["1900-02-29"],
    ["2026-13-01"],
    ["2026-00-01"],
    ["2026-01-00"],
    ["2026-1-1"],
    ["26-01-01"],
    ["2026-01-01T00:00:00Z"],
    [" 2026-01-01"],
    ["2026-01-01\n"],
    ["20260101"],
    ["tomorrow"],
    [""],
    [["2026-01-01", "2026-01-01"]],
    [["2026-01-01"]],
    [undefined],
  ])("refuses the date %j", (date) => {
    const limits = { daysMax: 366 };
    const invalid = expect.objectContaining({ code: "invalid-date", status: 400 }) as Error;
    expect(() => parseDateRange({ startDate: date, endDate: "2026-08-01" }, limits)).toThrow(invalid);
    expect(() => parseDateRange({ startDate: "2026-08-01", endDate: date }, limits)).toThrow(invalid);
  });

  test.each([
    ["2026-08-01", "2026-08-01", 31, "empty-range"],
    ["2026-08-02", "2026-08-01", 31, "empty-range"],
    ["2026-08-01", "2026-09-02", 31, "range-too-long"],
    ["2026-02-01", "2026-03-05", 31, "range-too-long"],
    ["2024-01-01", "2025-01-02", 366, "range-too-long"],
    ["2023-06-01", "2024-06-02", 366, "range-too-long"],
  ])("refuses %s to %s as it is", (startDate, endDate, daysMax, code) => {
    const problem = expect.objectContaining({ code, status: 422 }) as Error;
    expect(() => parseDateRange({ startDate, endDate }, { daysMax })).toThrow(problem);
  });

  test("says how many days there are and may be", () => {
    const range = { startDate: "2026-01-01", endDate: "2026-03-01" };
    expect(() => parseDateRange(range, { daysMax: 31 })).toThrow("The range has 59 days; the maximum is 31.");
  });
});

describe("parseOptionalDateRange", () => {
  const now = new Date("2026-03-01T23:59:59.999Z");
  const limits = { daysMax: 366, daysDefault: 30, now };

  test("ends with today where nothing is said", () => {
    expect(parseOptionalDateRange({}, limits)).toEqual({ startDate: "2026-01-31", endDate: "2026-03-02" });
    expect(parseOptionalDateRange({}, { ...limits, daysDefault: 1 })).toEqual({
      startDate: "2026-03-01",
      endDate: "2026-03-02",
    });
  });

  test("takes both dates or none", () => {
    const range = { startDate: "2025-01-01", endDate: "2025-01-02" };
    expect(parseOptionalDateRange(range, limits)).toEqual(range);
    for (const half of [{ startDate: "2025-01-01" }, { endDate: "2025-01-01" }])
      expect(() => parseOptionalDateRange(half, limits)).toThrow(
        expect.objectContaining({ code: "invalid-date" }),
      );
  });
});
