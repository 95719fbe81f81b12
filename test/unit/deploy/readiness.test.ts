import { describe, expect, test } from "vitest";
import { readHealth } from "../../../api/routes/health.js";
import type { Role } from "../../../deploy/config-schema.js";
import type { Stores } from "../../../deploy/open-stores.js";
import { roleChecks } from "../../../deploy/readiness.js";

const stores = {
  pg: { query: async () => ({}) },
  clickhouse: { command: async () => ({}) },
  eventLog: () => Promise.reject(new Error("no broker")),
} as unknown as Stores;

const checksOf = (roles: Role[], idleWorkers?: number) =>
  roleChecks(stores, {
    roles: new Set(roles),
    enrichment: () => (idleWorkers === undefined ? undefined : { idleWorkers: () => idleWorkers }),
  });

describe("a process is ready", () => {
  test.each([
    ["jobs", ["postgres", "clickhouse"]],
    ["api", ["postgres", "clickhouse", "event_log"]],
    ["collect", ["postgres", "clickhouse", "event_log"]],
    ["enrich", ["postgres", "clickhouse", "event_log", "enrichment"]],
  ] as const)("as %s, when these are there: %s", (role, needed) => {
    expect(Object.keys(checksOf([role]))).toEqual(needed);
  });

  test("as jobs, also while the event log is away, which it does not need", async () => {
    expect((await readHealth({ checks: checksOf(["jobs"]) })).ready).toBe(true);
    expect((await readHealth({ checks: checksOf(["api", "jobs"]) })).body).toMatchObject({
      message: "Not ready: event_log.",
    });
  });

  test.each([
    ["none is started", undefined, "enrichment is not started yet"],
    ["one of them ended", 1, "1 enrichment workers do not consume"],
  ])("as enrich, only when every worker consumes: %s", async (_, idle, reason) => {
    const enrichment = checksOf(["enrich"], idle)["enrichment"];
    await expect(enrichment?.()).rejects.toThrow(reason);
  });

  test("as enrich, when every worker consumes", async () => {
    await expect(checksOf(["enrich"], 0)["enrichment"]?.()).resolves.toBeUndefined();
  });
});
