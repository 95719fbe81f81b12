import { expect, test } from "vitest";
import {
  DELETIONS_SHARE,
  ManagementMix,
  type MixedRequest,
} from "../../../bench/management/management-mix.js";

const packageOf = (id: string) => ({ id, name: `acme/${id}`, etag: `"${id}"` });
const ACME = {
  name: "acme",
  token: "own",
  readToken: "read-only",
  member: "ada",
  packages: [packageOf("one"), packageOf("two")],
  changing: [packageOf("three")],
  pixels: ["page"],
};

const take = (count: number, mix = new ManagementMix([ACME], 1)) =>
  Array.from({ length: count }, (_, index) => {
    const mixed = mix.next(index);
    mixed.onAnswered({ status: mixed.status, headers: {}, body: { uuid: `id-${index}`, id: `id-${index}` } });
    return mixed;
  });
const methodsOf = (mixed: MixedRequest[]) => {
  const counts: Record<string, number> = {};
  for (const { request } of mixed) counts[request.method] = (counts[request.method] ?? 0) + 1;
  return counts;
};

test("deletes about all created records, each once", () => {
  const mixed = take(20_000);
  const gone = mixed.filter(({ request }) => request.method === "DELETE").map(({ request }) => request.path);
  const made = mixed.filter(({ status }) => status === 201);
  expect(new Set(gone).size).toBe(gone.length);
  expect(gone.every((path) => /\/id-\d+$/.test(path))).toBe(true);
  expect(made.length / 20_000).toBeCloseTo(DELETIONS_SHARE / 100, 1);
  expect(made.length - gone.length).toBeLessThan(200);
});

test("is mostly reads, some of them conditional, half of them with a read-only token", () => {
  const mixed = take(20_000);
  const { GET: reads = 0, ...changes } = methodsOf(mixed);
  expect(reads / 20_000).toBeCloseTo(0.79, 1);
  expect(Object.keys(changes).sort()).toEqual(["DELETE", "POST", "PUT"]);
  expect(mixed.filter(({ status }) => status === 304).length / 20_000).toBeCloseTo(0.1, 1);
  const byReader = mixed.filter(({ request }) => request.headers?.["Authorization"] === "Bearer read-only");
  expect(Object.keys(methodsOf(byReader))).toEqual(["GET"]);
  expect(byReader.length / 20_000).toBeCloseTo(0.37, 1);
});

test("is the same for the same seed", () => {
  const requests = () => take(500).map(({ request }) => request);
  expect(requests()).toEqual(requests());
});

test("reads instead while there is nothing to delete", () => {
  const mix = new ManagementMix([ACME], 1);
  const mixed = Array.from({ length: 1_000 }, (_, index) => mix.next(index));
  expect(methodsOf(mixed)["DELETE"]).toBeUndefined();
});
