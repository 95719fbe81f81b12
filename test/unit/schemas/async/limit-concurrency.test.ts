import { expect, it } from "vitest";
import { limitConcurrency } from "../../../../schemas/async/limit-concurrency.js";

/** Never aborts. */
const patient = () => new AbortController().signal;
const LIMITS = { perKey: 1, inAll: 2 };

/** The state of each promise once nothing moves any more. */
async function settled(promises: readonly Promise<unknown>[]): Promise<string[]> {
  await new Promise(setImmediate);
  const waiting = Symbol("waiting");
  return Promise.all(
    promises.map((promise) =>
      Promise.race([promise, Promise.resolve(waiting)]).then(
        (value) => (value === waiting ? "waits" : "goes"),
        () => "refused",
      ),
    ),
  );
}

it("lets the callers of a key wait for one another and for nobody else", async () => {
  const take = limitConcurrency(LIMITS);
  const first = await take(["a"], patient());
  const next = [take(["a"], patient()), take(["b"], patient())];
  expect(await settled(next)).toEqual(["waits", "goes"]);
  first[Symbol.dispose]();
  expect(await settled(next)).toEqual(["goes", "goes"]);
});

it("lets a caller through once every key has a permit left", async () => {
  const take = limitConcurrency(LIMITS);
  const first = await take(["a", "owner"], patient());
  const next = [take(["b", "owner"], patient()), take(["b", "other"], patient())];
  expect(await settled(next)).toEqual(["waits", "goes"]);
  first[Symbol.dispose]();
  expect(await settled(next)).toEqual(["waits", "goes"]);
  (await next[1])?.[Symbol.dispose]();
  expect(await settled(next)).toEqual(["goes", "goes"]);
});

it("holds no permit of one key while it waits for another", async () => {
  const take = limitConcurrency({ perKey: 2, inAll: 10 });
  const slow = [await take(["other", "slow"], patient()), await take(["other", "slow"], patient())];
  const next = [
    take(["owner", "slow"], patient()),
    take(["owner", "slow"], patient()),
    take(["owner", "fast"], patient()),
    take(["owner", "fast"], patient()),
  ];
  expect(await settled(next)).toEqual(["waits", "waits", "goes", "goes"]);
  for (const each of slow) each[Symbol.dispose]();
  expect(await settled(next)).toEqual(["waits", "waits", "goes", "goes"]);
  (await next[2])?.[Symbol.dispose]();
  expect(await settled(next)).toEqual(["goes", "waits", "goes", "goes"]);
});

it("serves everyone who waited for a key of the permits that are given back", async () => {
  const take = limitConcurrency({ perKey: 1, inAll: 3 });
  const first = await take(["a", "owner"], patient());
  const next = [take(["a", "other"], patient()), take(["b", "owner"], patient())];
  expect(await settled(next)).toEqual(["waits", "waits"]);
  first[Symbol.dispose]();
  expect(await settled(next)).toEqual(["goes", "goes"]);
});

it("serves in turn the callers whose permits are free", async () => {
  const take = limitConcurrency(LIMITS);
  const [a, b] = [await take(["a"], patient()), await take(["b"], patient())];
  const next = [take(["a"], patient()), take(["c"], patient()), take(["d"], patient())];
  b[Symbol.dispose]();
  expect(await settled(next)).toEqual(["waits", "goes", "waits"]);
  a[Symbol.dispose]();
  // Nobody served d yet.
  expect(await settled(next)).toEqual(["waits", "goes", "goes"]);
});

it("gives back its permits once, however often it is disposed of", async () => {
  const take = limitConcurrency({ perKey: 1, inAll: 1 });
  const first = await take(["a"], patient());
  first[Symbol.dispose]();
  const next = [take(["a"], patient()), take(["a"], patient())];
  first[Symbol.dispose]();
  expect(await settled(next)).toEqual(["goes", "waits"]);
});

it("refuses a caller whose signal comes, and serves the next one", async () => {
  const take = limitConcurrency(LIMITS);
  const first = await take(["a"], patient());
  const impatient = new AbortController();
  const next = [take(["a"], impatient.signal), take(["a"], patient())];
  impatient.abort(new Error("too late"));
  await expect(next[0]).rejects.toThrow("too late");
  first[Symbol.dispose]();
  expect(await settled(next)).toEqual(["refused", "goes"]);
  await expect(take(["b"], AbortSignal.abort(new Error("over")))).rejects.toThrow("over");
});

it("refuses when very many wait for a key, or in all", async () => {
  const take = limitConcurrency(LIMITS);
  await take(["a"], patient());
  const waiting = Array.from({ length: 251 }, () => take(["a"], patient()));
  await expect(waiting[250]).rejects.toThrow("Too many requests are waiting");
  await take(["b"], patient());
  const others = Array.from({ length: 251 }, (_, at) => take([`c${at}`], patient()));
  // The last of those who wait for the same makes room for somebody else.
  await expect(waiting[249]).rejects.toThrow("Too many requests are waiting");
  expect((await settled([...waiting, ...others])).filter((each) => each === "waits")).toHaveLength(500);
});

it("refuses whoever comes last where nobody waits for more than one key", async () => {
  const take = limitConcurrency({ perKey: 1, inAll: 1 });
  await take(["first"], patient());
  const waiting = Array.from({ length: 501 }, (_, at) => take([`c${at}`], patient()));
  await expect(waiting[500]).rejects.toThrow("Too many requests are waiting");
  expect((await settled(waiting)).filter((each) => each === "waits")).toHaveLength(500);
});

it.each([
  { perKey: 1, inAll: 2, greedy: 2 },
  { perKey: 4, inAll: 12, greedy: 3 },
  { perKey: 5, inAll: 20, greedy: 6 },
])("lets a modest caller take turns with $greedy that ask for much: $perKey of $inAll", async (limits) => {
  const take = limitConcurrency(limits);
  const held: Disposable[] = [];
  const asks = (key: string) =>
    take([key], patient()).then((permit) => {
      held.push(permit);
      return key;
    });
  for (let each = 0; each < 20; each++)
    for (let key = 0; key < limits.greedy; key++) void asks(`greedy${key}`);
  await settled([]);
  const modest = asks("modest");
  expect(await settled([modest])).toEqual(["waits"]);
  held.shift()?.[Symbol.dispose]();
  expect(await settled([modest])).toEqual(["goes"]);
});

it("gives the permits of all to those who ask for much in turn", async () => {
  const take = limitConcurrency(LIMITS);
  const served: string[] = [];
  const held: Disposable[] = [];
  for (let each = 0; each < 3; each++)
    for (const key of ["a", "b", "c", "d"])
      void take([key], patient()).then((permit) => {
        held.push(permit);
        served.push(key);
      });
  for (await settled([]); held.length > 0; await settled([])) held.shift()?.[Symbol.dispose]();
  expect(served.join("")).toBe("abcdabcdabcd");
});

it("does not count callers that left as waiting", async () => {
  const take = limitConcurrency(LIMITS);
  const first = await take(["a"], patient());
  const leaving = Array.from({ length: 250 }, () => new AbortController());
  const left = leaving.map(({ signal }) => take(["a"], signal));
  for (const each of leaving) each.abort(new Error("left"));
  await Promise.allSettled(left);
  const next = [take(["a"], patient())];
  expect(await settled(next)).toEqual(["waits"]);
  first[Symbol.dispose]();
  expect(await settled([...left.slice(0, 1), ...next])).toEqual(["refused", "goes"]);
});

it("lets those who ask for much take turns with those who ask again and again", async () => {
  const take = limitConcurrency(LIMITS);
  const served = new Map<string, number>();
  let rounds = 0;
  const askAgain = async (key: string) => {
    while (rounds < 200) {
      using _permit = await take([key], patient());
      served.set(key, (served.get(key) ?? 0) + 1);
      rounds++;
      await new Promise(setImmediate);
    }
  };
  await Promise.all(["a", "b", "b", "b", "c", "d", "e"].map(askAgain));
  for (const key of "abcde") expect(served.get(key)).toBeGreaterThan(25);
});

it("lets whoever had no turn lately wait in place of the one that was served or refused last", async () => {
  const take = limitConcurrency({ perKey: 1, inAll: 1, waitingMax: 2, waitingEachMax: 1 });
  const first = await take(["first"], patient());
  const waiting = [take(["a"], patient()), take(["b"], patient())];
  await expect(take(["b"], patient())).rejects.toThrow("Too many requests are waiting");
  const late = take(["late"], patient());
  await expect(waiting[1]).rejects.toThrow("Too many requests are waiting");
  await expect(take(["b"], patient())).rejects.toThrow("Too many requests are waiting");
  expect(await settled([...waiting, late])).toEqual(["waits", "refused", "waits"]);
  first[Symbol.dispose]();
  (await waiting[0])?.[Symbol.dispose]();
  expect(await settled([late])).toEqual(["goes"]);
});
