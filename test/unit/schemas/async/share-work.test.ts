import { describe, expect, test } from "vitest";
import { inGroups, shareWaiting } from "../../../../schemas/async/share-work.js";

describe("shared work", () => {
  /** Counts its calls; ends when it is told to, or with its signal. */
  function openWork() {
    const calls: {
      signal: AbortSignal;
      begin: () => void;
      end: (answer: number) => void;
      fail: (error: Error) => void;
    }[] = [];
    const work = (signal: AbortSignal, begin: () => void) =>
      new Promise<number>((end, fail) => {
        signal.addEventListener("abort", () => fail(signal.reason as Error));
        calls.push({ signal, begin, end, fail });
      });
    const share = shareWaiting<number>();
    /** Resolves once the work that was started was called. */
    const ask = async ({ key = "a", signal = new AbortController().signal } = {}) => {
      const answer = share(key, signal, work);
      answer.catch(() => undefined);
      await new Promise(setImmediate);
      return { answer };
    };
    return { calls, ask };
  }

  describe("those who ask for the same", () => {
    test("get one answer as long as it waits for its turn", async () => {
      const { calls, ask } = openWork();
      const asked = [await ask(), await ask()];
      calls[0]?.end(1);
      for (const { answer } of asked) expect(await answer).toBe(1);
      expect(calls).toHaveLength(1);
    });

    test("get another answer than those who ask for something else", async () => {
      const { calls, ask } = openWork();
      const asked = [await ask(), await ask({ key: "b" })];
      calls.forEach(({ end }, n) => end(n));
      expect(await Promise.all(asked.map(({ answer }) => answer))).toEqual([0, 1]);
    });

    test("once it has begun get the next one together", async () => {
      const { calls, ask } = openWork();
      const asked = [await ask()];
      calls[0]?.begin();
      asked.push(await ask(), await ask());
      calls.forEach(({ end }, n) => end(n));
      expect(await Promise.all(asked.map(({ answer }) => answer))).toEqual([0, 1, 1]);
    });

    test("are told of a failure, which is not kept", async () => {
      const { calls, ask } = openWork();
      const asked = [await ask(), await ask()];
      calls[0]?.fail(new Error("away"));
      for (const { answer } of asked) await expect(answer).rejects.toThrow("away");
      const again = await ask();
      calls[1]?.end(2);
      expect(await again.answer).toBe(2);
    });
  });

  describe("who leaves", () => {
    test("waits no longer, and the work goes on for the others", async () => {
      const { calls, ask } = openWork();
      const caller = new AbortController();
      const [left, stayed] = [await ask({ signal: caller.signal }), await ask()];
      caller.abort();
      await expect(left.answer).rejects.toMatchObject({ name: "AbortError" });
      expect(calls[0]?.signal.aborted).toBe(false);
      calls[0]?.end(1);
      expect(await stayed.answer).toBe(1);
    });

    test("last ends the work, and who asks then gets other work", async () => {
      const { calls, ask } = openWork();
      const callers = [new AbortController(), new AbortController()];
      const asked = [];
      for (const { signal } of callers) asked.push(await ask({ signal }));
      for (const caller of callers) caller.abort();
      for (const { answer } of asked) await expect(answer).rejects.toMatchObject({ name: "AbortError" });
      expect(calls[0]?.signal.aborted).toBe(true);
      const again = await ask();
      calls[1]?.end(2);
      expect(await again.answer).toBe(2);
    });
  });
});

describe("calls in groups", () => {
  class Down extends Error {}

  /** Calls of `<key><number>`, and the groups that ran; `refused` fails each group that has it. */
  function openGroups({ refused, down = false }: { refused?: string; down?: boolean } = {}) {
    const groups: string[][] = [];
    const call = inGroups<string, string>(
      async (items) => {
        groups.push([...items]);
        await new Promise(setImmediate);
        if (down) throw new Down();
        if (refused !== undefined && items.includes(refused)) throw new Error(`${refused} is refused`);
        return items.map((item) => `${item} done`);
      },
      { keyOf: ([key = ""]) => key, itemsMax: 3, isOfAll: (error) => error instanceof Down },
    );
    return { call, groups };
  }

  test("the first call runs at once, and those that come meanwhile run together, each with its result", async () => {
    const { call, groups } = openGroups();
    const results = await Promise.all(["a1", "a2", "a3"].map(call));
    expect(results).toEqual(["a1 done", "a2 done", "a3 done"]);
    expect(groups).toEqual([["a1"], ["a2", "a3"]]);
    await call("a4");
    expect(groups.at(-1)).toEqual(["a4"]);
  });

  test("a group has one key and a limit", async () => {
    const { call, groups } = openGroups();
    await Promise.all(["a1", "b1", "a2", "a3", "b2", "a4", "a5"].map(call));
    expect(groups).toEqual([["a1"], ["b1"], ["a2", "a3", "a4"], ["b2"], ["a5"]]);
  });

  test("one that fails costs the others of its group nothing", async () => {
    const { call } = openGroups({ refused: "a3" });
    const results = await Promise.allSettled(["a1", "a2", "a3", "a4"].map(call));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
  });

  test("an error that is of all is not tried out one by one", async () => {
    const { call, groups } = openGroups({ down: true });
    const results = await Promise.allSettled(["a1", "a2", "a3"].map(call));
    expect(results.every(({ status }) => status === "rejected")).toBe(true);
    expect(groups).toEqual([["a1"], ["a2", "a3"]]);
  });
});
