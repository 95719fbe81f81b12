import { describe, expect, test } from "vitest";
import { readQuery } from "../../../aggregate/read-query.js";

describe("readQuery", () => {
  test.each([
    "queries/events/events",
    "settlement/find-deltas",
    "settlement/apply-deltas",
    "funnel/company-facts",
  ])("reads %s once, as one statement", async (name) => {
    const reading = readQuery(name);
    expect(readQuery(name)).toBe(reading);
    const statement = (await reading).replaceAll(/^--.*$/gm, "");
    expect(statement).toMatch(/^\s*(SELECT|INSERT)/);
    expect(statement.trimEnd().replace(/;$/, "")).not.toMatch(/;\s*$/m);
  });

  test("rejects for a query that is not there", async () => {
    await expect(readQuery("no-such-query")).rejects.toThrow("no-such-query");
  });
});
