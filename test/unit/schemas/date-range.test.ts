import { describe, expect, test } from "vitest";
import { parseDateRange, parseOptionalDateRange } from "../../../schemas/date-range.js";

const year = { daysMax: 366 };
const month = { daysMax: 31 };

describe("parseDateRange", () => {
  test.each([
    ["2026-08-01", "2026-08-02", month],
    ["2026-08-01", "2026-09-01", month],
    ["2026-12-31", "2027-01-01", month],
    ["2024-02-29", "2024-03-01", month],
    ["2024-01-01", "2025-01-01", year],
    ["2023-06-01", "2024-06-01", year],
    ["1970-01-01", "1970-01-02", month],
    ["2148-12-31", "2149-01-01", month],
    ["1969-12-31", "1970-01-02", month],
    ["9999-11-30", "9999-12-31", month],
  ])("reads %s to %s", (startDate, endDate, limit) => {
    expect(parseDateRange({ startDate, endDate }, limit)).toEqual({ startDate, endDate });
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
    const invalid = expect.objectContaining({ code: "invalid-date", status: 400 }) as Error;
    expect(() => parseDateRange({ startDate: date, endDate: "2026-08-01" }, year)).toThrow(invalid);
    expect(() => parseDateRange({ startDate: "2026-08-01", endDate: date }, year)).toThrow(invalid);
  });

  test.each([
    ["2026-08-01", "2026-08-01", month, "empty-range"],
    ["2026-08-02", "2026-08-01", month, "empty-range"],
    ["2026-08-01", "2026-09-02", month, "range-too-long"],
    ["2026-02-01", "2026-03-05", month, "range-too-long"],
    ["2024-01-01", "2025-01-02", year, "range-too-long"],
    ["2023-06-01", "2024-06-02", year, "range-too-long"],
  ])("refuses %s to %s as it is", (startDate, endDate, limit, code) => {
    const problem = expect.objectContaining({ code, status: 422 }) as Error;
    expect(() => parseDateRange({ startDate, endDate }, limit)).toThrow(problem);
  });

  test("says how many days there are and may be", () => {
    const range = { startDate: "2026-01-01", endDate: "2026-03-01" };
    expect(() => parseDateRange(range, month)).toThrow("The range has 59 days; the maximum is 31.");
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
