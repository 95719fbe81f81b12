import { LRUCache } from "lru-cache";
import type { ClickHouse } from "../../schemas/shards.js";
import {
  composeContents,
  composeTableCounts,
  type CountRow,
  type Measures,
  type Scoped,
} from "./compose-from-tables.js";
import { composeTableLists } from "./compose-table-lists.js";
import { isFoundByHash, readGreatest } from "./read-greatest.js";
import { companiesOf, listParams, rowsByList, type RawListRow } from "./statistics-lists.js";
import { rowsOf } from "./run-statement.js";
import type { StatisticsList } from "../../schemas/contracts/breakdowns.js";
import { groupingOf } from "./group-version.js";
import type { PackageDate } from "../queries/sql-literals.js";
import {
  type BucketsQuery,
  comparedOf,
  type Compares,
  type Counts,
  type ListsQuery,
  type RangeCounts,
  type StatisticsQuery,
  type StatisticsReader,
} from "./statistics-query.js";

export const readFromTables: StatisticsReader = {
  async statistics(clickhouse, query) {
    const [rows, listed] = await Promise.all([
      readCounts(clickhouse, query),
      readLists(clickhouse, query, comparedOf(query)),
    ]);
    const counts = (part: "now" | "compared" | "before"): RangeCounts => {
      const { totals, buckets } = countsOf(rows, part);
      // Those of pixels have no list here.
      const companies = query.pixels.length > 0 ? totals.companies : companiesOf(listed)[part];
      return { totals: { ...totals, companies }, buckets };
    };
    return {
      now: counts("now"),
      ...(query.compared !== undefined && { compared: counts("compared") }),
      ...(query.before !== undefined && { before: counts("before") }),
      lists: rowsByList(listed),
    };
  },

  async list(clickhouse, query) {
    const [list] = query.lists;
    const [amounts, listed] = await Promise.all([
      rowsOf<CountRow>(clickhouse, query, {
        query: composeTableCounts(scopedOf(query), {
          interval: "month",
          measures: "amounts",
          compares: comparedOf(query),
        }),
      }),
      readLists(clickhouse, query, "nothing"),
    ]);
    const { totals } = countsOf(amounts, "now");
    return {
      total: totals[list?.counts ?? "downloads"],
      rows: rowsByList(listed).get(list?.name ?? "") ?? [],
    };
  },
};

function scopedOf({ pixels, automated }: StatisticsQuery): Scoped {
  return { pixels: pixels.length > 0, automated };
}

const TRIES = 3;

/**
 * The number of addresses of a bucket, by its contents, which name its packages, days and fingerprints: it never changes. Has
 * buckets whose sets all held. Takes some 20 MB at most.
 */
const knownAddresses = new LRUCache<string, number>({ max: 100_000 });

/**
 * Days without a set are asked for first: a statement that finds them by itself is analysed for longer than it runs. Data
 * may change in between. What the second statement reads is of one state, in which each set is compared with its day once
 * more. It counts the days that it had neither a set nor rows of: none means that no address is left out. It counts buckets
 * that are known by their contents together, and says whether these are still the same. To count each of them by itself takes
 * three quarters of the time.
 */
async function readCounts(clickhouse: ClickHouse, query: BucketsQuery): Promise<CountRow[]> {
  const { interval } = query;
  const compares = comparedOf(query);
  const count = (measures: Measures, stale: readonly PackageDate[], known: readonly KnownCount[]) =>
    rowsOf<CountRow>(
      clickhouse,
      { ...query, stale },
      {
        query: composeTableCounts(scopedOf(query), { interval, measures, compares }),
        params: { known: known.map(({ bucket }) => bucket) },
      },
    );
  for (let tried = 0; tried < TRIES; tried += 1) {
    const [found] = await rowsOf<ContentsRow>(clickhouse, query, { query: composeContents(interval) });
    if (found?.reads_sets !== 1) break;
    const known = knownOf(found, query);
    const measures = found.stale.length === 0 ? "from-sets" : "from-sets-and-rows";
    const rows = await count(measures, found.stale, known);
    const isWhole = rows.every(({ measure, amount }) => measure !== "missing" || amount === 0);
    if (!isWhole || !isUnchanged(known, rows)) continue;
    for (const { measure, bucket, contents, amount } of rows)
      if (measure === "addresses" && bucket !== null && bucket !== "" && contents !== "")
        knownAddresses.set(`${query.automated} ${contents}`, amount);
    return [...rows, ...known];
  }
  return count("from-rows", [], []);
}

interface ContentsRow {
  reads_sets: 0 | 1;
  stale: PackageDate[];
  buckets: readonly (readonly [isNow: 0 | 1, bucket: string, contents: string])[];
}

type KnownCount = CountRow & { bucket: string };

/** Those who look at pixels have addresses that are in no set. */
function knownOf({ buckets }: ContentsRow, { automated, pixels }: BucketsQuery): KnownCount[] {
  if (pixels.length > 0) return [];
  return buckets.flatMap(([isNow, bucket, contents]) => {
    const amount = knownAddresses.get(`${automated} ${contents}`);
    const part = isNow === 1 ? "now" : "before";
    return amount === undefined ? [] : [{ measure: "addresses" as const, part, bucket, amount, contents }];
  });
}

/** The contents of buckets add up, at 64 bits, to those of all of them together. */
function isUnchanged(known: readonly KnownCount[], rows: readonly CountRow[]): boolean {
  return (["now", "before"] as const).every((part) => {
    const sum = known
      .filter((row) => row.part === part)
      .reduce((total, { contents }) => BigInt.asUintN(64, total + BigInt(contents)), 0n);
    const together = rows.find(
      (row) => row.measure === "addresses" && row.part === part && row.bucket === null,
    );
    return (together?.contents ?? "0") === String(sum);
  });
}

function countsOf(rows: readonly CountRow[], part: CountRow["part"]): RangeCounts {
  const totals = { downloads: 0, views: 0, addresses: 0, companies: 0 };
  const buckets = new Map<string, Counts>();
  for (const { measure, bucket, amount, ...row } of rows) {
    if (row.part !== part || measure === "missing" || bucket === null) continue;
    if (bucket === "") totals[measure] = amount;
    else if (measure !== "companies") {
      const counts = buckets.get(bucket) ?? { downloads: 0, views: 0, addresses: 0 };
      buckets.set(bucket, { ...counts, [measure]: amount });
    }
  }
  return { totals, buckets };
}

/** In no order of the lists. */
async function readLists(
  clickhouse: ClickHouse,
  query: ListsQuery,
  compares: Compares,
): Promise<RawListRow[]> {
  const isFound = isFoundByHash(query);
  const found = query.lists.filter(isFound);
  const read = (lists: readonly StatisticsList[]) =>
    readWithValues(clickhouse, { ...query, lists }, compares);
  const [greatest, others] = await Promise.all([
    readGreatest(clickhouse, { ...query, lists: found }, compares),
    read(query.lists.filter((list) => !isFound(list))),
  ]);
  const leftOut = await read(found.filter(({ name }) => !greatest.has(name)));
  return [...[...greatest.values()].flat(), ...others, ...leftOut];
}

async function readWithValues(
  clickhouse: ClickHouse,
  query: ListsQuery,
  compares: Compares,
): Promise<RawListRow[]> {
  const grouping = groupingOf(query);
  const statement = composeTableLists(query.lists, scopedOf(query), { ...query, grouping, compares });
  if (statement === undefined) return [];
  return rowsOf<RawListRow>(clickhouse, query, { query: statement, params: listParams(query) });
}
