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

it("lets a caller through once it has a permit of every key", async () => {
  const take = limitConcurrency(LIMITS);
  const first = await take(["owner", "a"], patient());
  const next = [take(["owner", "b"], patient()), take(["other", "b"], patient())];
  expect(await settled(next)).toEqual(["waits", "goes"]);
  first[Symbol.dispose]();
  expect(await settled(next)).toEqual(["waits", "goes"]);
  (await next[1])?.[Symbol.dispose]();
  expect(await settled(next)).toEqual(["goes", "goes"]);
});

it("serves everyone who waited for a key of the permits that are given back", async () => {
  const take = limitConcurrency({ perKey: 1, inAll: 3 });
  const first = await take(["owner", "a"], patient());
  const next = [take(["other", "a"], patient()), take(["owner", "b"], patient())];
  expect(await settled(next)).toEqual(["waits", "waits"]);
  first[Symbol.dispose]();
  expect(await settled(next)).toEqual(["goes", "goes"]);
});

it("serves the callers that wait for one of all permits in turn", async () => {
  const take = limitConcurrency(LIMITS);
  const [a, b] = [await take(["a"], patient()), await take(["b"], patient())];
  const next = [take(["a"], patient()), take(["c"], patient()), take(["d"], patient())];
  b[Symbol.dispose]();
  expect(await settled(next)).toEqual(["waits", "goes", "waits"]);
  a[Symbol.dispose]();
  // The first one has waited for its key until now, the last one for this permit.
  expect(await settled(next)).toEqual(["waits", "goes", "goes"]);
  (await next[1])?.[Symbol.dispose]();
  expect(await settled(next)).toEqual(["goes", "goes", "goes"]);
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
  await expect(waiting[250]).rejects.toThrow("Too many wait");
  await take(["b"], patient());
  const others = Array.from({ length: 251 }, (_, at) => take([`c${at}`], patient()));
  await expect(others[250]).rejects.toThrow("Too many wait");
  expect((await settled([...waiting, ...others])).filter((each) => each === "waits")).toHaveLength(500);
});
