import { describe, expect, test } from "vitest";
import { healthRoutes, readHealth, shareHealth } from "../../../../../api/base/http/health-routes.js";

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
    expect(health.reasons["log"]).toEqual(new Error("no response within 1 ms"));
  });

  test("counts a check that throws at once as down", async () => {
    const broken = () => {
      throw new Error("broken");
    };
    expect((await readHealth({ checks: { log: broken } })).ready).toBe(false);
  });
});

describe("shareHealth", () => {
  function world(check: () => Promise<void>) {
    const asked = { times: 0 };
    const counted = () => (asked.times++, check());
    return { asked, health: shareHealth({ checks: { log: counted } }) };
  }

  test("asks the stores once for all who ask before the answer is there", async () => {
    const { asked, health } = world(up);
    await Promise.all([health(), health()]);
    expect(asked.times).toBe(1);
  });

  test("asks no more while a store does not answer", () => {
    const { asked, health } = world(silent);
    void health();
    void health();
    expect(asked.times).toBe(1);
  });

  test("tells how it is, not how it was", async () => {
    const answers = [up, down, up];
    const { health } = world(() => (answers.shift() ?? up)());
    const told = [await health(), await health(), await health()];
    expect(told.map(({ ready }) => ready)).toEqual([true, false, true]);
  });

  test("is what /readyz asks", async () => {
    let asked = 0;
    const routes = healthRoutes({ checks: { log: async () => void asked++ } });
    const readyz = routes.find(({ path }) => path === "/readyz");
    const ask = () => readyz?.handle({ set: () => undefined, state: {} } as never);
    await Promise.all([ask(), ask(), ask()]);
    expect(asked).toBe(1);
  });
});
