import { describe, expect, test } from "vitest";
import { type Postgres, isStoreDown, query, violates } from "../../../../api/postgres/query.js";

function coded(code: string, more: object = {}): Error {
  return Object.assign(new Error("some words"), { code, ...more });
}

function failing(error: Error): Postgres {
  return { query: () => Promise.reject(error) };
}

describe("isStoreDown", () => {
  test.each(["ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "EPIPE", "08006", "57P01", "57P03", "53300", "279"])(
    "is so for %s",
    (code) => {
      expect(isStoreDown(coded(code))).toBe(true);
    },
  );

  test.each([
    coded("23505"),
    coded("42601"),
    coded("57014"),
    new Error("ECONNREFUSED"),
    undefined,
    { code: "08006" },
  ])("is not so for %s", (error) => {
    expect(isStoreDown(error)).toBe(false);
  });
});

describe("query", () => {
  test.each([
    coded("57P01", { severity: "FATAL" }),
    coded("ECONNREFUSED"),
    new Error("timeout exceeded when trying to connect"),
    new Error("Client was closed and is not queryable"),
  ])("says that the store is unavailable for %s", async (error) => {
    const refused = { code: "unavailable", retryAfterSeconds: 5, cause: error };
    await expect(query(failing(error), "select 1")).rejects.toMatchObject(refused);
  });

  test.each(["55P03", "57014"])("says so too where the server gave up a statement (%s)", async (code) => {
    const error = coded(code, { severity: "ERROR" });
    const refused = { code: "unavailable", retryAfterSeconds: 5, cause: error };
    await expect(query(failing(error), "select 1")).rejects.toMatchObject(refused);
  });

  test("lets what the server says of the statement rise", async () => {
    const error = coded("42601", { severity: "ERROR" });
    await expect(query(failing(error), "selct 1")).rejects.toBe(error);
  });

  test("tells which constraint was violated by its name", () => {
    expect(violates(coded("23505", { constraint: "owners_name_taken" }), "owners_name_taken")).toBe(true);
    expect(violates(coded("23505", { constraint: "other" }), "owners_name_taken")).toBe(false);
    expect(violates(coded("42601", { constraint: "owners_name_taken" }), "owners_name_taken")).toBe(false);
  });
});
