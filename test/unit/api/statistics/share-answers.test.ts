import { describe, expect, test } from "vitest";
import { shareAnswers } from "../../../../api/statistics/share-answers.js";

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
