import { describe, expect, test } from "vitest";
import { readHealth } from "../../../api/routes/health.js";

const up = () => Promise.resolve();
const down = () => Promise.reject(new Error("refused"));
const silent = () => new Promise<void>(() => undefined);

describe("readHealth", () => {
  test("is ready when every store answers", async () => {
    const health = await readHealth({ checks: { postgres: up, clickhouse: up } });
    expect(health.ready).toBe(true);
    expect(health.body).toEqual({ status: "ok", stores: { postgres: "ok", clickhouse: "ok" } });
  });

  test("names the stores that fail, and says why to the log only", async () => {
    const health = await readHealth({ checks: { postgres: down, clickhouse: up } });
    expect(health.ready).toBe(false);
    expect(health.body).toEqual({
      status: "unavailable",
      code: "unavailable",
      message: "Not ready: postgres.",
      stores: { postgres: "down", clickhouse: "ok" },
    });
    expect(health.reasons).toEqual({ postgres: new Error("refused") });
  });

  test("does not wait for a store that never answers", async () => {
    const health = await readHealth({ checks: { log: silent } }, { timeoutMs: 1 });
    expect(health.ready).toBe(false);
    expect(health.reasons["log"]).toEqual(new Error("no answer within 1 ms"));
  });

  test("counts a check that throws at once as down", async () => {
    const broken = () => {
      throw new Error("broken");
    };
    expect((await readHealth({ checks: { log: broken } })).ready).toBe(false);
  });
});
