import { expect, it } from "vitest";
import { limitPlaces } from "../../../schemas/limit-places.js";

/** Who would wait for ever. */
const patient = () => new AbortController().signal;
const LIMITS = { perSide: 1, inAll: 2 };

/** What has happened once everything that can has. */
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

it("lets the requests of a side wait for one another and for nobody else's", async () => {
  const take = limitPlaces(LIMITS);
  const first = await take(["a"], patient());
  const next = [take(["a"], patient()), take(["b"], patient())];
  expect(await settled(next)).toEqual(["waits", "goes"]);
  first[Symbol.dispose]();
  expect(await settled(next)).toEqual(["goes", "goes"]);
});

it("gives a place only to who has one left on every side", async () => {
  const take = limitPlaces(LIMITS);
  const first = await take(["a", "owner"], patient());
  const next = [take(["b", "owner"], patient()), take(["b", "other"], patient())];
  expect(await settled(next)).toEqual(["waits", "goes"]);
  first[Symbol.dispose]();
  expect(await settled(next)).toEqual(["waits", "goes"]);
  (await next[1])?.[Symbol.dispose]();
  expect(await settled(next)).toEqual(["goes", "goes"]);
});

it("serves everyone who waited for a side of the place that is given up", async () => {
  const take = limitPlaces({ perSide: 1, inAll: 3 });
  const first = await take(["a", "owner"], patient());
  const next = [take(["a", "other"], patient()), take(["b", "owner"], patient())];
  expect(await settled(next)).toEqual(["waits", "waits"]);
  first[Symbol.dispose]();
  expect(await settled(next)).toEqual(["goes", "goes"]);
});

it("serves in turn whoever fits when a place is given up", async () => {
  const take = limitPlaces(LIMITS);
  const [a, b] = [await take(["a"], patient()), await take(["b"], patient())];
  const next = [take(["a"], patient()), take(["c"], patient()), take(["d"], patient())];
  b[Symbol.dispose]();
  expect(await settled(next)).toEqual(["waits", "goes", "waits"]);
  a[Symbol.dispose]();
  expect(await settled(next)).toEqual(["goes", "goes", "waits"]);
});

it("refuses who has waited too long, and gives the place to the next", async () => {
  const take = limitPlaces(LIMITS);
  const first = await take(["a"], patient());
  const impatient = new AbortController();
  const next = [take(["a"], impatient.signal), take(["a"], patient())];
  impatient.abort(new Error("too late"));
  await expect(next[0]).rejects.toThrow("too late");
  first[Symbol.dispose]();
  expect(await settled(next)).toEqual(["refused", "goes"]);
  await expect(take(["b"], AbortSignal.abort(new Error("over")))).rejects.toThrow("over");
});

it("refuses when very many wait on a side, or in all", async () => {
  const take = limitPlaces(LIMITS);
  await take(["a"], patient());
  const waiting = Array.from({ length: 251 }, () => take(["a"], patient()));
  await expect(waiting[250]).rejects.toThrow("Too many wait");
  await take(["b"], patient());
  const others = Array.from({ length: 251 }, (_, at) => take([`c${at}`], patient()));
  await expect(others[250]).rejects.toThrow("Too many wait");
  expect((await settled([...waiting, ...others])).filter((each) => each === "waits")).toHaveLength(500);
});
