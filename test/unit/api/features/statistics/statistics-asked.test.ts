import { parse } from "node:querystring";
import { describe, expect, test } from "vitest";
import { parsePosition, positionText } from "../../../../../api/features/statistics/answer-list.js";
import { readQuery } from "../../../../../api/base/http/answers/query-parameters.js";
import { statisticsAsked } from "../../../../../api/features/statistics/statistics-asked.js";
import { READ_STATISTICS } from "../../../../../api/features/statistics/statistics-operations.js";
import { Problem } from "../../../../../schemas/problem.js";
import { testTable } from "../../../../support/test-table.js";

const NOW = new Date("2026-11-22T21:00:00Z");
const parsed = (text: string) => {
  const query = parse(text);
  return statisticsAsked(readQuery(query, READ_STATISTICS), { query, now: NOW });
};

test("without parameters the last 30 days are asked for, by day, compared with nothing", () => {
  expect(parsed("")).toEqual({
    range: { startDate: "2026-10-24", endDate: "2026-11-23" },
    before: undefined,
    interval: "day",
    limit: 10,
    filters: [],
    automated: "include",
    versions: "exact",
    package: undefined,
    packageType: undefined,
    pixel: undefined,
  });
});

test("every filter may be repeated, and an empty value is one", () => {
  const query = "country=DE&country=FR&client_version=&variable.a.b=1&variable.a.b=2&page=/";
  expect(parsed(query).filters).toEqual([
    { column: "country", values: ["DE", "FR"] },
    { column: "client_version", values: [""] },
    { variable: "a.b", values: ["1", "2"] },
    { column: "referer", values: ["/"] },
  ]);
});

test("as many variables as an event can have may be filtered by, and no more", () => {
  const byVariables = (count: number) =>
    Array.from({ length: count }, (_, n) => `variable.v${n}=x`).join("&");
  expect(parsed(byVariables(64)).filters).toHaveLength(64);
  expect(() => parsed(byVariables(65))).toThrow(
    new Problem("invalid-query", "The query filters by 65 variables; the maximum is 64."),
  );
});

test.each(["include", "exclude"] as const)(
  "to %s automated requests is possible for 366 days",
  (automated) => {
    const range = "startDate=2025-01-01&endDate=2026-01-02";
    expect(parsed(`${range}&automated=${automated}`)).toMatchObject({ filters: [], automated });
  },
);

const days = (startDate: string, endDate: string) => ({ startDate, endDate });

testTable("%s is compared with %j", (query) => parsed(query).before, [
  ["startDate=2026-03-10&endDate=2026-03-17&compare=previous", days("2026-03-03", "2026-03-10")],
  ["startDate=2026-03-10&endDate=2026-03-17&compare=year", days("2025-03-10", "2025-03-17")],
  ["startDate=2024-02-29&endDate=2024-03-01&compare=year", days("2023-02-28", "2023-03-01")],
  ["startDate=2025-02-28&endDate=2025-03-02&compare=year", days("2024-02-28", "2024-03-01")],
  // A leap year has a day more than the year before it.
  ["startDate=2024-01-01&endDate=2025-01-01&compare=year", days("2023-01-01", "2024-01-01")],
  ["startDate=0000-01-01&endDate=0000-01-02&compare=previous", days("0000-01-01", "0000-01-01")],
  ["startDate=0000-01-01&endDate=0000-01-02&compare=year", days("0000-01-01", "0000-01-01")],
  ["startDate=2026-03-10&endDate=2026-03-17&compare=2026-01-30", days("2026-01-30", "2026-02-06")],
  ["startDate=2026-03-10&endDate=2026-03-17&compare=2026-03-03", days("2026-03-03", "2026-03-10")],
  // Seven days, of which today is not over.
  ["startDate=2026-11-16&endDate=2026-11-23&compare=2026-11-01", days("2026-11-01", "2026-11-07")],
]);

/** NOW is a Sunday, in the evening. */
test.each([
  // The day is not over: 29 days are compared, five weeks before.
  ["", "previous-weekdays", "2026-09-19", "2026-10-18", "2026-11-22"],
  ["startDate=2026-11-16&endDate=2026-11-23", "previous-weekdays", "2026-11-09", "2026-11-15", "2026-11-22"],
  ["startDate=2026-11-09&endDate=2026-11-16", "previous-weekdays", "2026-11-02", "2026-11-09", undefined],
  ["startDate=2026-10-01&endDate=2026-11-01", "previous-weekdays", "2026-08-27", "2026-09-27", undefined],
  ["startDate=2026-10-01&endDate=2026-11-01", "year-weekdays", "2025-10-02", "2025-11-02", undefined],
  ["startDate=2025-10-01&endDate=2026-10-01", "year-weekdays", "2024-09-25", "2025-09-25", undefined],
  ["startDate=2026-11-20&endDate=2026-12-01", "previous-weekdays", "2026-11-13", "2026-11-15", "2026-11-22"],
])(
  "%s compared with %s is compared with the same weekdays from %s to %s",
  (query, comparison, startDate, endDate, end) => {
    const { before, compared, range } = parsed(`${query}&compare=${comparison}`);
    expect(before).toEqual({ startDate, endDate });
    expect(compared).toEqual(end === undefined ? undefined : { ...range, endDate: end });
    expect(new Date(startDate).getUTCDay()).toBe(new Date(range.startDate).getUTCDay());
  },
);

test("a day that is not over is compared by hour alone, until the same time of day", () => {
  const today = "startDate=2026-11-22&endDate=2026-11-23&compare=";
  expect(parsed(`${today}previous-weekdays`).before).toBeUndefined();
  const byHour = parsed(`${today}previous&interval=hour`);
  expect(byHour).toMatchObject({
    before: { startDate: "2026-11-21", endDate: "2026-11-22" },
    beforeUntil: new Date("2026-11-21T21:00:00Z"),
  });
  expect(byHour.compared).toBeUndefined();
  expect(parsed(`${today}previous-weekdays&interval=hour`).beforeUntil).toEqual(
    new Date("2026-11-15T21:00:00Z"),
  );
  const over = "startDate=2026-11-20&endDate=2026-11-21&compare=previous&interval=hour";
  expect(parsed(over).beforeUntil).toBeUndefined();
});

test.each([
  ["interval=minute", "invalid-query", /interval must be one of hour, day, week, month/],
  ["startDate=2026-01-01&endDate=2026-01-05&interval=hour", "range-too-long", /maximum is 3/],
  [
    "compare=",
    "invalid-query",
    /compare must be one of none, previous, year, previous-weekdays, year-weekdays/,
  ],
  ["startDate=2026-03-10&endDate=2026-03-17&compare=2026-03-04", "invalid-query", /2026-03-03 or earlier/],
  ["compare=2026-02-30", "invalid-query", /or a date in the form/],
  ["compare=year&compare=none", "invalid-query", /compare can be given only once/],
  ["automated=only", "invalid-query", /automated must be one of include, exclude/],
  ["limit=0", "invalid-query", /from 1 to 100/],
  ["limit=101", "invalid-query", /from 1 to 100/],
  ["limit=1e1", "invalid-query", /from 1 to 100/],
  ["package=a&pixel=b", "invalid-query", /cannot be combined/],
  ["packageType=exe", "invalid-query", /packageType/],
  ["startDate=2026-01-01", "invalid-date", /endDate/],
  ["startDate=2026-01-01&endDate=2026-02-30", "invalid-date", /endDate/],
  ["startDate=2025-01-01&endDate=2026-01-03", "range-too-long", /maximum is 366/],
  ["startDate=2026-01-01&endDate=2026-04-05&country=DE", "range-too-long", /maximum is 93/],
])("?%s is rejected", (query, code, message) => {
  const refusal = (): unknown => {
    try {
      return parsed(query);
    } catch (error) {
      return error;
    }
  };
  expect(refusal()).toBeInstanceOf(Problem);
  expect(refusal()).toMatchObject({ code, message: expect.stringMatching(message) as string });
});

describe("the position of a row", () => {
  test("is read as it was written", () => {
    const position = { count: 12, values: ['a "b"', "é\n"] };
    expect(parsePosition(positionText({ ...position, compared: 12, before: 3 }))).toEqual(position);
  });

  test.each([
    "",
    "x",
    "e30",
    Buffer.from('["1"]').toString("base64url"),
    Buffer.from("[1,2]").toString("base64url"),
  ])("%j is none", (text) => {
    expect(parsePosition(text)).toBeUndefined();
  });
});
