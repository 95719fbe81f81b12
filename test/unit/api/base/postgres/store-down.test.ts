import { describe, expect, test } from "vitest";
import { type Postgres, isStoreDown, query, violates } from "../../../../../api/base/postgres/query.js";

function coded(code: string, more: object = {}): Error {
  return Object.assign(new Error("some words"), { code, ...more });
}

function failing(error: Error): Postgres {
  return { query: () => Promise.reject(error) };
}

describe("isStoreDown", () => {
  const NETWORK = ["ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "EPIPE"];
  const CONNECTION = [
    "08000",
    "08001",
    "08003",
    "08004",
    "08006",
    "57P01",
    "57P02",
    "57P03",
    "57P04",
    "57P05",
  ];
  const RESOURCES = ["53000", "53100", "53200", "53300", "53400"];
  const SYSTEM = ["58000", "58030", "58P01", "58P02", "58P03", "25006"];
  test.each([...NETWORK, ...CONNECTION, ...RESOURCES, ...SYSTEM, "279"])("is so for %s", (code) => {
    expect(isStoreDown(coded(code))).toBe(true);
  });

  test.each([
    coded("23505"),
    coded("42601"),
    coded("57014"),
    coded("XX000"),
    coded("XX001"),
    coded("54000"),
    coded("25P02"),
    coded("5803"),
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
    coded("58030", { severity: "ERROR" }),
    coded("53100", { severity: "ERROR" }),
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
