import { describe, expect, test } from "vitest";
import { readQuery } from "../../../../../../api/base/http/answers/query-parameters.js";
import {
  READ_STATISTICS,
  READ_STATISTICS_LIST,
} from "../../../../../../api/features/statistics/statistics-operations.js";

const TEXT = { schema: { type: "string" }, description: "" };
const QUERY = { startDate: TEXT, breakdown: TEXT };

function messageOf(
  query: Record<string, string | string[]>,
  operation: Parameters<typeof readQuery>[1],
): unknown {
  try {
    readQuery(query, operation);
  } catch (error) {
    return error;
  }
  return undefined;
}

test("takes the parameters of the operation, and those with its prefix", () => {
  expect(messageOf({ startDate: "", breakdown: "" }, { query: QUERY })).toBeUndefined();
  expect(messageOf({ "variable.x": "" }, { query: QUERY, queryPrefix: "variable." })).toBeUndefined();
  expect(messageOf({}, {})).toBeUndefined();
});

describe("rejects any other", () => {
  const ONLY = ". Known parameters: startDate, breakdown, variable.<name>.";
  test.each<[string, string]>([
    ["breakdowns", ". Did you mean breakdown?"],
    ["startdate", ". Did you mean startDate?"],
    ...["format", "foo", "variable.", "x".repeat(500), "constructor"].map((name): [string, string] => [
      name,
      ONLY,
    ]),
  ])("%s", (name, rest) => {
    const operation = { query: QUERY, queryPrefix: "variable." };
    const message = `Unknown query parameter ${name.slice(0, 40)}${rest}`;
    expect(messageOf({ [name]: "1" }, operation)).toMatchObject({ code: "invalid-query", message });
  });

  test("format, with what decides it", () => {
    const ends = / Use the Accept header to choose the format, such as text\/csv\.$/;
    const message = expect.stringMatching(ends) as string;
    expect(messageOf({ format: "csv" }, READ_STATISTICS)).toMatchObject({ message });
  });

  test("where there is none at all", () => {
    const message = "Unknown query parameter dryrun.";
    expect(messageOf({ dryrun: "" }, {})).toMatchObject({ message });
  });
});

test("statistics take filters and variables; each kind of answer has parameters of its own", () => {
  const filters = { country: "DE", "variable.mirror": "eu", automated: "exclude" };
  expect(messageOf({ ...filters, interval: "day", limit: "5" }, READ_STATISTICS)).toBeUndefined();
  expect(messageOf({ ...filters, search: "x", per_page: "5" }, READ_STATISTICS_LIST)).toBeUndefined();
  expect(messageOf({ search: "x" }, READ_STATISTICS)).toMatchObject({ code: "invalid-query" });
  expect(messageOf({ limit: "5" }, READ_STATISTICS_LIST)).toMatchObject({ code: "invalid-query" });
});

describe("reads values by their schemas", () => {
  const of = <const Schema extends Readonly<Record<string, unknown>>>(schema: Schema) =>
    ({ query: { it: { schema, description: "" } } }) as const;
  const WHOLE = of({ type: "integer", minimum: 1, maximum: 90 });
  const FLAG = of({ type: "boolean", default: false });
  const LIST = of({ type: "array", maxItems: 2, items: { type: "string", minLength: 1 } });
  const NAMED = of({ type: "string", enum: ["day", "week"], default: "day" });

  test("as typed values, with defaults", () => {
    expect(readQuery({ it: "90" }, WHOLE)).toEqual({ it: 90 });
    expect(readQuery({}, WHOLE)).toEqual({ it: undefined });
    expect(readQuery({ it: "true" }, FLAG)).toEqual({ it: true });
    expect(readQuery({}, FLAG)).toEqual({ it: false });
    expect(readQuery({ it: "a" }, LIST)).toEqual({ it: ["a"] });
    expect(readQuery({ it: ["a", "b"] }, LIST)).toEqual({ it: ["a", "b"] });
    expect(readQuery({}, NAMED)).toEqual({ it: "day" });
  });

  const DATE = of({ type: "string", format: "date" });
  const ID = of({ type: "string", format: "uuid" });
  const SHORT = of({ type: "string", minLength: 1, maxLength: 5 });
  const whole = "it must be a whole number from 1 to 90.";
  test.each([
    ...["0", "91", "07", "1e1", "0x1", " 1", "", "1.0", "-1"].map((it) => [it, WHOLE, whole] as const),
    ...["", "yes", "TRUE", "1"].map((it) => [it, FLAG, "it must be true or false."] as const),
    ["month", NAMED, "it must be one of day, week."],
    ["2026-02-30", DATE, "it must be a calendar date in the form YYYY-MM-DD."],
    ["x", ID, "it must be a UUID."],
    ["longer", SHORT, "it must have 1 to 5 characters."],
    ["", SHORT, "it must have 1 to 5 characters."],
    [["day", "day"], NAMED, "it can be given only once."],
  ] as const)("and rejects %j of %j", (it, operation, message) => {
    const code = operation === DATE ? "invalid-date" : "invalid-query";
    expect(messageOf({ it: it as string }, operation)).toMatchObject({ code, message });
  });

  test("and asks for a value that is required", () => {
    const required = { query: { it: { ...DATE.query.it, required: true } } };
    const message = "it is required: it must be a calendar date in the form YYYY-MM-DD.";
    expect(messageOf({}, required)).toMatchObject({ code: "invalid-date", message });
    expect(messageOf({ it: "2026-11-01" }, required)).toBeUndefined();
  });

  test("and by a condition of its own", () => {
    const even = { schema: { type: "string" }, description: "", sentence: "must be even" };
    const operation = { query: { it: { ...even, allows: (text: string) => text.length % 2 === 0 } } };
    expect(messageOf({ it: "ab" }, operation)).toBeUndefined();
    expect(messageOf({ it: "abc" }, operation)).toMatchObject({ message: "it must be even." });
  });
});
