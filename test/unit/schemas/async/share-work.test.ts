import { describe, expect, test } from "vitest";
import { shareAnswers, inGroups } from "../../../../schemas/async/share-work.js";

describe("shared answers", () => {
  const A = { key: "a", takesBegun: true };
  const OPTIONS = { sharedMs: 60_000, answersMax: 2 };

  /** Counts its calls; ends when it is told to, or with its signal. */
  function openWork() {
    const calls: {
      signal: AbortSignal;
      begin: () => void;
      end: (answer: { n: number }) => void;
      fail: (error: Error) => void;
    }[] = [];
    const work = (signal: AbortSignal, begin: () => void) =>
      new Promise<{ n: number }>((end, fail) => {
        signal.addEventListener("abort", () => fail(signal.reason as Error));
        calls.push({ signal, begin, end, fail });
      });
    return { calls, work };
  }

  const never = () => new AbortController().signal;

  describe("those who ask for the same", () => {
    test("get one answer, also shortly after it was there", async () => {
      const share = shareAnswers<{ n: number }>(OPTIONS);
      const { calls, work } = openWork();
      const asked = [share(A, never(), work), share(A, never(), work)];
      calls[0]?.end({ n: 1 });
      expect(await Promise.all(asked)).toEqual([{ n: 1 }, { n: 1 }]);
      expect(await share(A, never(), work)).toEqual({ n: 1 });
      expect(calls).toHaveLength(1);
    });

    test("get another answer than those who ask for something else", async () => {
      const share = shareAnswers<{ n: number }>(OPTIONS);
      const { calls, work } = openWork();
      const asked = [share(A, never(), work), share({ ...A, key: "b" }, never(), work)];
      calls.forEach(({ end }, n) => end({ n }));
      expect(await Promise.all(asked)).toEqual([{ n: 0 }, { n: 1 }]);
    });

    test("get a new answer once the old one is too old", async () => {
      const share = shareAnswers<{ n: number }>({ ...OPTIONS, sharedMs: 1 });
      const { calls, work } = openWork();
      const first = share(A, never(), work);
      calls[0]?.begin();
      calls[0]?.end({ n: 1 });
      await first;
      await expect
        .poll(() => {
          void share(A, never(), work).catch(() => undefined);
          return calls.length;
        })
        .toBeGreaterThan(1);
    });

    test("get one answer as long as it waits for its turn, however long that is", async () => {
      const share = shareAnswers<{ n: number }>({ ...OPTIONS, sharedMs: 1 });
      const { calls, work } = openWork();
      const asked = [share(A, never(), work)];
      await new Promise((later) => setTimeout(later, 5));
      asked.push(share({ ...A, takesBegun: false }, never(), work));
      calls[0]?.begin();
      calls[0]?.end({ n: 1 });
      expect(await Promise.all(asked)).toEqual([{ n: 1 }, { n: 1 }]);
    });

    test("get another answer once it has begun, where that is not good enough", async () => {
      const share = shareAnswers<{ n: number }>(OPTIONS);
      const { calls, work } = openWork();
      const asked = [share(A, never(), work)];
      calls[0]?.begin();
      for (const takesBegun of [false, false, true]) asked.push(share({ ...A, takesBegun }, never(), work));
      calls.forEach(({ end }, n) => end({ n }));
      expect(await Promise.all(asked)).toEqual([{ n: 0 }, { n: 1 }, { n: 1 }, { n: 1 }]);
    });

    test("are told of a failure, which is not kept", async () => {
      const share = shareAnswers<{ n: number }>(OPTIONS);
      const { calls, work } = openWork();
      const asked = [share(A, never(), work), share(A, never(), work)];
      calls[0]?.fail(new Error("away"));
      for (const each of asked) await expect(each).rejects.toThrow("away");
      const again = share(A, never(), work);
      calls[1]?.end({ n: 2 });
      expect(await again).toEqual({ n: 2 });
    });
  });

  describe("the work goes on", () => {
    test("while somebody waits for it, and ends when the last one leaves", async () => {
      const share = shareAnswers<{ n: number }>(OPTIONS);
      const { calls, work } = openWork();
      const callers = [new AbortController(), new AbortController()];
      const asked = callers.map(({ signal }) => share(A, signal, work));
      callers[0]?.abort();
      expect(calls[0]?.signal.aborted).toBe(false);
      callers[1]?.abort();
      expect(calls[0]?.signal.aborted).toBe(true);
      for (const each of asked) await expect(each).rejects.toMatchObject({ name: "AbortError" });
      void share(A, never(), work).catch(() => undefined);
      expect(calls).toHaveLength(2);
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
