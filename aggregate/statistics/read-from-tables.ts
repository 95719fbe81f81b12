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
import { groupingOf } from "../versions/group-version.js";
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
 * How many addresses a bucket had whose sets all held, by its contents: of whatever packages and days, that never changes.
 */
const knownAddresses = new LRUCache<string, number>({ max: 100_000 });

/**
 * Days without a set are asked for first: a statement that finds them by itself is analysed for longer than it runs. Data
 * may change in between. What the second statement reads is of one state, in which each set is compared with its day once
 * more, and it counts the days that it had neither a set nor rows of. None means that no address is left out. Buckets that
 * are known by their contents are not counted again: those of an owner's days take three quarters of the time.
 */
async function readCounts(clickhouse: ClickHouse, query: BucketsQuery): Promise<CountRow[]> {
  const compose = (measures: Measures) =>
    composeTableCounts(scopedOf(query), {
      interval: query.interval,
      measures,
      compares: comparedOf(query),
    });
  // Pixels alone have no sets to ask for.
  const tries = query.packages.length === 0 ? 0 : TRIES;
  for (let tried = 0; tried < tries; tried += 1) {
    const [found] = await rowsOf<ContentsRow>(clickhouse, query, { query: composeContents(query.interval) });
    if (found?.reads_sets !== 1) break;
    const known = knownOf(found, query);
    const rows = await rowsOf<CountRow>(
      clickhouse,
      { ...query, stale: found.stale, known: known.map(({ bucket }) => bucket) },
      { query: compose(found.stale.length === 0 ? "from-sets" : "from-sets-and-rows") },
    );
    if (rows.some(({ measure, amount }) => measure === "missing" && amount !== 0)) continue;
    for (const { measure, bucket, contents, amount } of rows)
      if (measure === "addresses" && bucket !== null && bucket !== "" && contents !== "")
        knownAddresses.set(`${query.automated} ${contents}`, amount);
    return [...rows, ...known];
  }
  return rowsOf<CountRow>(clickhouse, query, { query: compose("from-rows") });
}

interface ContentsRow {
  reads_sets: 0 | 1;
  stale: PackageDate[];
  buckets: readonly (readonly [isNow: 0 | 1, bucket: string, contents: string])[];
}

/** The addresses of pixels are in no set. */
function knownOf({ buckets }: ContentsRow, { automated, pixels }: BucketsQuery): KnownCount[] {
  if (pixels.length > 0) return [];
  return buckets.flatMap(([isNow, bucket, contents]) => {
    const amount = knownAddresses.get(`${automated} ${contents}`);
    const part = isNow === 1 ? "now" : "before";
    return amount === undefined ? [] : [{ measure: "addresses" as const, part, bucket, amount, contents }];
  });
}

type KnownCount = CountRow & { bucket: string };

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
