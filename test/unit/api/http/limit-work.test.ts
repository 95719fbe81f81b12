import { EventEmitter } from "node:events";
import { describe, expect, test } from "vitest";
import { limitWork } from "../../../../api/http/limit-work.js";
import type { ApiContext } from "../../../../api/http/route.js";

const contextOf = () => ({ res: new EventEmitter() }) as unknown as ApiContext;

const LIMITS = { atOnce: { perKey: 4, inAll: 8 }, sharedMax: 10, remedy: "Ask for less." };

const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));

describe("limited work", () => {
  test("that takes too long is unavailable, and is stopped", async () => {
    const run = limitWork({ ...LIMITS, timeMsMax: 5 });
    await expect(run(contextOf(), { caller: "ada" }, untilAborted)).rejects.toMatchObject({
      code: "unavailable",
      message: "This takes longer than 0.005 s. Ask for less.",
      retryAfterSeconds: 30,
    });
  });

  test("is stopped when the caller leaves", async () => {
    const ctx = contextOf();
    const working = limitWork(LIMITS)(ctx, { caller: "ada" }, untilAborted);
    ctx.res.emit("close");
    await expect(working).rejects.toMatchObject({ name: "AbortError" });
  });

  test("of one caller waits for its own, and not for that of another", async () => {
    const run = limitWork(LIMITS);
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const work = (caller: string) =>
      run(contextOf(), { caller }, async () => {
        begun.push(caller);
        await new Promise<void>((resolve) => ends.push(resolve));
        return {};
      });
    const working = ["ada", "ada", "ada", "ada", "ada", "bob"].map(work);
    await expect.poll(() => begun).toEqual(["ada", "ada", "ada", "ada", "bob"]);
    ends[0]?.();
    await expect.poll(() => begun.length).toBe(6);
    for (const end of ends) end();
    await Promise.all(working);
  });

  test("that many ask for with one key is done once, whoever asks", async () => {
    const run = limitWork(LIMITS);
    let reads = 0;
    const work = async () => Promise.resolve({ read: (reads += 1) });
    const callers = ["ada", "ada", "ada", "ada", "ada", "bob"];
    const answers = await Promise.all(
      callers.map((caller) => run(contextOf(), { caller, sharing: { key: "a", takesBegun: true } }, work)),
    );
    expect(answers).toEqual(callers.map(() => ({ read: 1 })));
    expect(await run(contextOf(), { caller: "ada", sharing: { key: "b", takesBegun: true } }, work)).toEqual({
      read: 2,
    });
  });

  test("that waits for its turn with one key is done once, and anew for those who come later where that matters", async () => {
    const run = limitWork(LIMITS);
    const ends: (() => void)[] = [];
    const ask = () =>
      run(contextOf(), { caller: "ada", sharing: { key: "a", takesBegun: false } }, async () => {
        const read = ends.length + 1;
        await new Promise<void>((end) => ends.push(end));
        return { read };
      });
    const first = [ask(), ask()];
    await expect.poll(() => ends.length).toBe(1);
    const later = [ask(), ask()];
    await expect.poll(() => ends.length).toBe(2);
    for (const end of ends) end();
    const answers = await Promise.all([...first, ...later]);
    expect(answers.map(({ read }) => read)).toEqual([1, 1, 2, 2]);
  });
});
