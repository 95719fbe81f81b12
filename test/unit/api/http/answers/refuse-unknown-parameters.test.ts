import { describe, expect, test } from "vitest";
import { refuseUnknownParameters } from "../../../../../api/http/answers/query-parameters.js";
import {
  READ_STATISTICS,
  READ_STATISTICS_LIST,
} from "../../../../../api/statistics/statistics-operations.js";

const TEXT = { schema: { type: "string" }, description: "" };
const QUERY = { startDate: TEXT, breakdown: TEXT };

function messageOf(
  query: Record<string, string>,
  operation: Parameters<typeof refuseUnknownParameters>[1],
): unknown {
  try {
    refuseUnknownParameters(query, operation);
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

describe("refuses any other", () => {
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
  expect(
    messageOf({ ...filters, search: "x", per_page: "5", after: "a" }, READ_STATISTICS_LIST),
  ).toBeUndefined();
  expect(messageOf({ search: "x" }, READ_STATISTICS)).toMatchObject({ code: "invalid-query" });
  expect(messageOf({ limit: "5" }, READ_STATISTICS_LIST)).toMatchObject({ code: "invalid-query" });
});
