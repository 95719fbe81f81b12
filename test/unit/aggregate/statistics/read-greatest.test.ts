import { expect, test } from "vitest";
import { isFoundByHash, readGreatest } from "../../../../aggregate/statistics/read-greatest.js";
import type { ListsQuery } from "../../../../aggregate/statistics/statistics-query.js";
import { listNamed } from "../../../../schemas/contracts/breakdowns.js";
import type { ClickHouse } from "../../../../schemas/shards.js";

const COMPANY = listNamed("company");
const VERSION = listNamed("version");
const QUERY: ListsQuery = {
  packages: ["01a216ec-137a-75f5-887a-975f662b07bd"],
  libraryTypes: new Set(["npm"]),
  pixels: [],
  filters: [],
  lists: [COMPANY],
  limit: 2,
  range: { startDate: "2025-03-01", endDate: "2025-03-03" },
  automated: "include",
  unsettled: { imports: [], fromVersion: "0", retracted: [], changed: false },
  signal: new AbortController().signal,
};

interface Value {
  hash: string;
  amount: number;
  value: string;
  before?: number;
  list?: string;
}

/** A ClickHouse with these rows; those of `gone` have no values any more. */
function holding(values: readonly Value[], gone: readonly string[] = []) {
  const asked: Record<string, unknown>[] = [];
  const query = async ({ query_params: params }: { query_params: Record<string, unknown> }) => {
    asked.push(params);
    const hashes = params["hashes"] as bigint[] | undefined;
    const hashed = values.map(({ hash, amount, before = 0, list = "company" }) => {
      const present = { present: values.length, present_compared: values.length, present_before: 0 };
      return { list, hash, amount, compared: amount, before, day: "2025-03-02", ...present };
    });
    const read = values
      .filter(({ hash }) => hashes?.includes(BigInt(hash)) === true && !gone.includes(hash))
      .map(({ hash, value }) => ({ hash, value_1: value, value_2: "" }));
    return { json: async () => (hashes === undefined ? hashed : read) };
  };
  return { clickhouse: { query } as unknown as ClickHouse, asked };
}

/** As ClickHouse answers them: the greatest first, those of one count in any order. */
const valuesOf = (count: number, { from, amount = 1 }: { from: number; amount?: number }): Value[] =>
  Array.from({ length: count }, (_, index) => ({
    hash: String(18_000_000_000_000_000_000n + BigInt(from + index)),
    amount,
    value: `value ${String(count - index).padStart(3, "0")}`,
  }));

async function read(
  values: readonly Value[],
  { gone = [], ...query }: Partial<ListsQuery> & { gone?: string[] } = {},
) {
  const { clickhouse, asked } = holding(values, gone);
  const lists = await readGreatest(clickhouse, { ...QUERY, ...query }, "nothing");
  return { lists, asked };
}

test("rows of one count are in the order of their bytes, wherever the list is cut", async () => {
  const values = [
    { hash: "11", amount: 9, value: "z" },
    { hash: "12", amount: 3, value: "\u{1f600}" },
    { hash: "13", amount: 3, value: "\uffee" },
    { hash: "14", amount: 3, value: "b" },
    { hash: "15", amount: 1, value: "a" },
  ];
  const { lists } = await read(values, { limit: 3 });
  expect(lists.get("company")?.map(({ value_1: value }) => value)).toEqual(["z", "b", "\uffee"]);
});

test("values are read once, of the rows that are shown or tie with them", async () => {
  const values = [...valuesOf(3, { from: 100, amount: 5 }), ...valuesOf(50, { from: 200 })];
  const { asked } = await read(values);
  expect(asked.map(({ hashes }) => (hashes as bigint[] | undefined)?.length)).toEqual([undefined, 3]);
  expect(asked[1]?.["days"]).toEqual(["2025-03-02"]);
  const again = await read(values);
  expect(again.asked).toHaveLength(1);
  expect(again.lists.get("company")?.map(({ value_1: value }) => value)).toEqual(["value 001", "value 002"]);
});

test("versions come with all others of the count of the last one", async () => {
  const values = valuesOf(60, { from: 300 }).map((value) => ({ ...value, list: "version" }));
  const { lists } = await read(values, { lists: [VERSION] });
  expect(lists.get("version")).toHaveLength(60);
});

test.each([
  ["because more rows may tie with its last one than were looked at", valuesOf(102, { from: 400 }), []],
  ["because a row went before its values were read", valuesOf(2, { from: 600 }), ["18000000000000000601"]],
])("a list is left out %s", async (_, values, gone) => {
  const { lists } = await read(values, { gone });
  expect(lists.has("company")).toBe(false);
});

test("a list that only the range before had says how many they were", async () => {
  const values = valuesOf(102, { from: 700, amount: 0 }).map((value) => ({ ...value, before: 4 }));
  const { lists } = await read(values);
  expect(lists.get("company")?.map(({ amount, present }) => [amount, present])).toEqual([[0, 102]]);
});

test("an empty list is empty, and no values are read", async () => {
  const { lists, asked } = await read([]);
  expect(lists.get("company")).toEqual([]);
  expect(asked).toHaveLength(1);
});

test.each<[string, Partial<ListsQuery>, boolean]>([
  ["the first rows", {}, true],
  ["the first page of 1,000", { limit: 1_001 }, true],
  ["a whole list", { limit: 1_002 }, false],
  ["a search", { search: "a" }, false],
  ["a later page", { after: { count: 3, values: ["a", ""] } }, false],
])("of %s, is a list found by hash?", (_, query, isFound) => {
  expect(isFoundByHash({ ...QUERY, ...query })(COMPANY)).toBe(isFound);
});

test("versions that are grouped and views are not found by hash", () => {
  expect(isFoundByHash({ ...QUERY, versions: "minor" })(VERSION)).toBe(false);
  expect(isFoundByHash({ ...QUERY, versions: "minor" })(COMPANY)).toBe(true);
  expect(isFoundByHash(QUERY)(VERSION)).toBe(true);
  expect(isFoundByHash(QUERY)(listNamed("page"))).toBe(false);
});
