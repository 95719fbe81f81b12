import { describe, expect, test } from "vitest";
import { limitWork } from "../../../../../api/base/http/limit-work.js";
import type { ApiContext } from "../../../../../api/base/http/route.js";

const contextOf = (left = new AbortController().signal) => ({ state: { left } }) as unknown as ApiContext;

const LIMITS = { atOnce: { perKey: 4, inAll: 8 }, keptMax: 10, remedy: "Ask for less." };

const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));

describe("limited work", () => {
  test("that takes too long is unavailable, and is stopped", async () => {
    const run = limitWork({ ...LIMITS, timeMsMax: 5 });
    await expect(run(contextOf(), { caller: "ada" }, untilAborted)).rejects.toMatchObject({
      code: "unavailable",
      message: "The request took longer than 0.005 s. Ask for less.",
      retryAfterSeconds: 30,
    });
  });

  test("is stopped when the caller leaves", async () => {
    const left = new AbortController();
    const working = limitWork(LIMITS)(contextOf(left.signal), { caller: "ada" }, untilAborted);
    left.abort(new Error("left"));
    await expect(working).rejects.toThrow("left");
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

  describe("with one key", () => {
    /** Work that ends when it is told to. Each answer says how many were computed. */
    function openWork() {
      const clock = { ms: 1, now: () => clock.ms };
      const run = limitWork({ ...LIMITS, clock });
      const ends: (() => void)[] = [];
      const ask = ({ caller = "ada", key = "a", state = "" } = {}) =>
        run(contextOf(), { caller, key }, (_, reuse) =>
          reuse(state, async () => {
            const read = ends.length + 1;
            await new Promise<void>((end) => ends.push(end));
            return { read };
          }),
        );
      const end = async (nth: number) => {
        await expect.poll(() => ends.length).toBe(nth);
        ends[nth - 1]?.();
      };
      return { ask, end, ends, clock };
    }

    test("is done once while it waits for its turn, whoever asks", async () => {
      const { ask, end } = openWork();
      const asked = ["ada", "ada", "ada", "ada", "ada", "bob"].map((caller) => ask({ caller }));
      await end(1);
      expect(await Promise.all(asked)).toEqual(asked.map(() => ({ read: 1 })));
      const other = ask({ key: "b" });
      await end(2);
      expect(await other).toEqual({ read: 2 });
    });

    test("is not done twice at the same time: those who ask meanwhile get the next answer", async () => {
      const { ask, end, ends } = openWork();
      const first = ask({ state: "one" });
      await expect.poll(() => ends.length).toBe(1);
      const later = [ask({ state: "two" }), ask({ caller: "bob", state: "two" })];
      await new Promise(setImmediate);
      expect(ends).toHaveLength(1);
      await end(1);
      await end(2);
      expect(await Promise.all([first, ...later])).toEqual([{ read: 1 }, { read: 2 }, { read: 2 }]);
    });

    test("is given again for a second while the state is equal", async () => {
      const { ask, end, clock } = openWork();
      const first = ask({ state: "one" });
      await end(1);
      expect(await first).toEqual({ read: 1 });
      clock.ms += 999;
      expect(await ask({ state: "one" })).toEqual({ read: 1 });
      const changed = ask({ state: "two" });
      await end(2);
      expect(await changed).toEqual({ read: 2 });
      clock.ms += 1_001;
      const late = ask({ state: "two" });
      await end(3);
      expect(await late).toEqual({ read: 3 });
    });

    test("that takes longer is given again for three times as long, from when it began", async () => {
      const { ask, end, ends, clock } = openWork();
      const first = ask();
      await expect.poll(() => ends.length).toBe(1);
      clock.ms += 10_000;
      await end(1);
      await first;
      clock.ms += 19_999;
      expect(await ask()).toEqual({ read: 1 });
      clock.ms += 2;
      const late = ask();
      await end(2);
      expect(await late).toEqual({ read: 2 });
    });
  });
});
