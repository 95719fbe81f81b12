import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readList, readStatistics } from "../../../../aggregate/statistics/read-statistics.js";
import type { Filter, ListPosition } from "../../../../aggregate/statistics/statistics-query.js";
import { type AdoptionQuery, readAdoption } from "../../../../aggregate/statistics/read-adoption.js";
import { STATISTICS_LISTS } from "../../../../schemas/contracts/breakdowns.js";
import type { ClickHouse } from "../../../../schemas/shards.js";
import { openTestClickHouse, type TestClickHouse } from "../../../support/stores/open-clickhouse.js";

const PACKAGE = "01a1fbad-ca48-70ed-9525-6dc0dcdf7c27";
const VERSIONS = 100_000;
/** Two downloads of each: 1.0.0 to 1.0.299. */
const TWICE = 300;
/** The limit, the ties of its last count and those before, and the rows of buckets. */
const READ_MAX = 3_000;

let opened: TestClickHouse;
beforeAll(async () => {
  opened = await openTestClickHouse();
  const insert = (count: number, key: string) =>
    opened.client.command({
      query: `INSERT INTO events (artifact, kind, library_type, time, unique_key, version, sign, package_version, country)
SELECT '${PACKAGE}', 'package', 'npm', '2026-11-01 12:00:00', concat('${key}', toString(number)), number, 1,
  concat('1.0.', toString(number)), 'DE' FROM numbers(${count})`,
    });
  await insert(VERSIONS, "first ");
  await insert(TWICE, "second ");
});
afterAll(() => opened?.[Symbol.asyncDispose]());

/** Counts the rows of all answers. */
function counting() {
  const read = { rows: 0 };
  const query: ClickHouse["query"] = async (params) => {
    const answer = await opened.client.query(params);
    const json = async () => {
      const rows = await answer.json<unknown>();
      if (Array.isArray(rows)) read.rows += rows.length;
      return rows;
    };
    return Object.create(answer, { json: { value: json } }) as never;
  };
  const clickhouse = Object.create(opened.client, { query: { value: query } }) as ClickHouse;
  return { clickhouse, read };
}

const LISTS = STATISTICS_LISTS.filter(({ isOfVersions }) => isOfVersions === true);
const OLDEST_TWICE = [{ count: 2, values: ["1.0.0"] }] as const;
const QUERY: Omit<AdoptionQuery, "filters"> = {
  packages: [PACKAGE],
  libraryTypes: new Set(["npm"]),
  pixels: [],
  range: { startDate: "2026-10-10", endDate: "2026-11-09" },
  automated: "include",
  unsettled: { imports: [], fromVersion: "0", retracted: [], changed: false },
  interval: "day",
  versions: "exact",
  signal: new AbortController().signal,
};

const FILTERS: readonly (readonly [string, readonly Filter[]])[] = [
  ["from the tables", []],
  ["from filtered events", [{ column: "country", values: ["DE"] }]],
];

describe.each(FILTERS)("of 100,000 versions few are read, %s,", (_, filters) => {
  test("for the first rows of statistics", async () => {
    const { clickhouse, read } = counting();
    const shown = { lists: STATISTICS_LISTS, limit: 2 };
    const { lists, now } = await readStatistics(clickhouse, { ...QUERY, ...shown, filters });
    expect(lists.get("version")?.map(({ values }) => values[0])).toEqual(["1.0.299", "1.0.298"]);
    expect(lists.get("country")?.map(({ count }) => count)).toEqual([VERSIONS + TWICE]);
    expect(now.totals.downloads).toBe(VERSIONS + TWICE);
    expect(read.rows).toBeLessThan(READ_MAX);
  });

  test("for each page, whose rows are neither skipped nor repeated where text takes over", async () => {
    const found: string[] = [];
    let after: ListPosition | undefined;
    for (let page = 0; page < 5; page += 1) {
      const { clickhouse, read } = counting();
      const { rows } = await readList(clickhouse, {
        ...QUERY,
        lists: LISTS,
        limit: 100,
        after,
        filters,
      });
      found.push(...rows.map(({ values: [version = ""] }) => version));
      after = rows.at(-1);
      expect(read.rows).toBeLessThan(2 * READ_MAX);
    }
    const twice = Array.from({ length: TWICE }, (__, place) => `1.0.${TWICE - 1 - place}`);
    const once = Array.from({ length: VERSIONS - TWICE }, (__, place) => `1.0.${TWICE + place}`).sort();
    expect(found).toEqual([...twice, ...once.slice(0, 200)]);
  });

  test("after the last of a count", async () => {
    const { clickhouse } = counting();
    const [after] = OLDEST_TWICE;
    const { rows } = await readList(clickhouse, {
      ...QUERY,
      lists: LISTS,
      limit: 1,
      after,
      filters,
    });
    expect(rows).toEqual([{ count: 1, compared: 1, before: 0, values: ["1.0.1000"] }]);
  });

  test("for adoption", async () => {
    const { clickhouse, read } = counting();
    const adoption = await readAdoption(clickhouse, { ...QUERY, filters });
    expect(adoption.versions).toEqual(Array.from({ length: 10 }, (__, place) => `1.0.${299 - place}`));
    expect(adoption.buckets.get("2026-11-01")?.get("")).toBe(VERSIONS + TWICE);
    expect(read.rows).toBeLessThan(READ_MAX);
  });
});
