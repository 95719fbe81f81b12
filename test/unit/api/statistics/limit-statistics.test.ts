import { EventEmitter } from "node:events";
import { describe, expect, test } from "vitest";
import type { ApiContext } from "../../../../api/route.js";
import { limitStatistics } from "../../../../api/statistics/limit-statistics.js";

const contextOf = () => ({ res: new EventEmitter() }) as unknown as ApiContext;

const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));

describe("statistics", () => {
  test("that take too long are unavailable, and their work is stopped", async () => {
    const run = limitStatistics({ timeMsMax: 5 });
    await expect(run(contextOf(), "ada", untilAborted)).rejects.toMatchObject({
      code: "unavailable",
      retryAfterSeconds: 30,
    });
  });

  test("are stopped when the caller leaves", async () => {
    const ctx = contextOf();
    const working = limitStatistics()(ctx, "ada", untilAborted);
    ctx.res.emit("close");
    await expect(working).rejects.toMatchObject({ name: "AbortError" });
  });

  test("of one caller wait for each other, and not for those of another", async () => {
    const run = limitStatistics();
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const work = (caller: string) =>
      run(contextOf(), caller, async () => {
        begun.push(caller);
        await new Promise<void>((resolve) => ends.push(resolve));
      });
    const working = ["ada", "ada", "ada", "ada", "ada", "bob"].map(work);
    await expect.poll(() => begun).toEqual(["ada", "ada", "ada", "ada", "bob"]);
    ends[0]?.();
    await expect.poll(() => begun.length).toBe(6);
    for (const end of ends) end();
    await Promise.all(working);
  });
});
