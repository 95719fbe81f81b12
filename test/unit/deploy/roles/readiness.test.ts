import { describe, expect, test } from "vitest";
import { readHealth } from "../../../../api/base/http/health-routes.js";
import type { Role } from "../../../../deploy/config/variables.js";
import { roleChecks } from "../../../../deploy/roles/readiness.js";
import type { Stores } from "../../../../deploy/stores/open-stores.js";

const stores = {
  pg: { query: async () => ({}) },
  clickhouse: { command: async () => ({}) },
  eventLog: () => Promise.reject(new Error("no broker")),
} as unknown as Stores;

const checksOf = (
  roles: Role[],
  { idleWorkers, isServing }: { idleWorkers?: number; isServing?: boolean } = {},
) =>
  roleChecks(stores, new Set(roles), {
    ...(idleWorkers !== undefined && { enrichment: { idleWorkers: () => idleWorkers } }),
    ...(isServing !== undefined && { collect: { isServing: () => isServing } }),
  });

describe("a process is ready", () => {
  test.each([
    ["jobs", ["postgres", "clickhouse"]],
    ["api", ["postgres", "clickhouse", "event_log"]],
    ["collect", ["postgres", "clickhouse", "event_log", "collection"]],
    ["enrich", ["postgres", "clickhouse", "event_log", "enrichment"]],
  ] as const)("as %s, when these are there: %s", (role, needed) => {
    expect(Object.keys(checksOf([role]))).toEqual(needed);
  });

  test("as jobs, also while the event log is unavailable, which it does not need", async () => {
    expect((await readHealth({ checks: checksOf(["jobs"]) })).ready).toBe(true);
    expect((await readHealth({ checks: checksOf(["api", "jobs"]) })).body).toMatchObject({
      message: "Not ready: event_log.",
    });
  });

  test("only while the event log has room for appends", async () => {
    const full = {
      lag: async () => 0,
      requireRoom: () => Promise.reject(new Error("its disk has 1 MB left")),
    };
    const onFullDisk = { ...stores, eventLog: async () => full } as unknown as Stores;
    const { body } = await readHealth({ checks: roleChecks(onFullDisk, new Set(["api"]), {}) });
    expect(body).toMatchObject({ message: "Not ready: event_log." });
  });

  test.each([
    ["none is started", {}, "enrichment has not started yet"],
    ["one of them ended", { idleWorkers: 1 }, "1 enrichment workers are stalled"],
  ])("as enrich, only when every worker consumes: %s", async (_, enrichment, reason) => {
    await expect(checksOf(["enrich"], enrichment)["enrichment"]?.()).rejects.toThrow(reason);
  });

  test("as enrich, when every worker consumes", async () => {
    await expect(checksOf(["enrich"], { idleWorkers: 0 })["enrichment"]?.()).resolves.toBeUndefined();
  });

  test.each([
    ["it is not started", {}, "the collector has not started yet"],
    ["it ended", { isServing: false }, "the collector does not respond"],
  ])("as collect, only when it serves: %s", async (_, collect, reason) => {
    await expect(checksOf(["collect"], collect)["collection"]?.()).rejects.toThrow(reason);
  });

  test("as collect, when it serves", async () => {
    await expect(checksOf(["collect"], { isServing: true })["collection"]?.()).resolves.toBeUndefined();
  });
});
