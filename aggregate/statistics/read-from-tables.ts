import type { ClickHouse } from "../../schemas/shards.js";
import type { DateRange } from "../../schemas/date-range.js";
import {
  composeTableCounts,
  composeTableLists,
  STALE_DAYS,
  type Measures,
  type Scoped,
} from "./compose-from-tables.js";
import { listParams, rowsByList, type RawListRow } from "./statistics-lists.js";
import { rowsOf } from "./run-statement.js";
import { groupingOf } from "../versions/group-version.js";
import type { PackageDate } from "../queries/sql-literals.js";
import type {
  BucketsQuery,
  Counts,
  ListRow,
  ListsQuery,
  RangeCounts,
  StatisticsQuery,
  StatisticsReader,
} from "./statistics-query.js";

export const readFromTables: StatisticsReader = {
  async statistics(clickhouse, query) {
    const countsOfRange = (range: DateRange | undefined) =>
      range === undefined ? undefined : readCounts(clickhouse, query, range);
    const [now, compared, before, lists] = await Promise.all([
      readCounts(clickhouse, query, query.range),
      countsOfRange(query.compared),
      countsOfRange(query.before),
      readLists(clickhouse, query),
    ]);
    return { now, ...(compared && { compared }), ...(before && { before }), lists };
  },

  async list(clickhouse, query) {
    const [list] = query.lists;
    const [amounts, lists] = await Promise.all([
      rowsOf<CountRow>(clickhouse, query, {
        query: composeTableCounts(scopedOf(query), { interval: "month", measures: "amounts" }),
      }),
      readLists(clickhouse, query),
    ]);
    const counted = amounts.filter(({ measure }) => measure === list?.counts);
    return {
      total: counted.reduce((sum, { amount }) => sum + amount, 0),
      rows: lists.get(list?.name ?? "") ?? [],
    };
  },
};

function scopedOf({ pixels, automated }: StatisticsQuery): Scoped {
  return { pixels: pixels.length > 0, automated };
}

interface CountRow {
  measure: "downloads" | "views" | "addresses" | "companies" | "missing";
  bucket: string;
  amount: number;
}

const TRIES = 3;

/**
 * Days without a set are asked for first: a statement that finds them by itself is analysed for longer than it runs. Data
 * may change in between. What the second statement reads is of one state, in which each set is compared with its day once
 * more, and it counts the days that it had neither a set nor rows of. None means that no address is left out.
 */
async function readCounts(
  clickhouse: ClickHouse,
  query: BucketsQuery,
  range: DateRange,
): Promise<RangeCounts> {
  const ofRange = { ...query, range };
  const compose = (measures: Measures) =>
    composeTableCounts(scopedOf(query), { interval: query.interval, measures });
  // Pixels alone have no sets to ask for.
  const tries = query.packages.length === 0 ? 0 : TRIES;
  for (let tried = 0; tried < tries; tried += 1) {
    const [days] = await rowsOf<StaleDaysRow>(clickhouse, ofRange, { query: STALE_DAYS });
    if (days?.reads_sets !== 1) break;
    const rows = await rowsOf<CountRow>(
      clickhouse,
      { ...ofRange, stale: days.stale },
      { query: compose(days.stale.length === 0 ? "from-sets" : "from-sets-and-rows") },
    );
    if (rows.every(({ measure, amount }) => measure !== "missing" || amount === 0)) return countsOf(rows);
  }
  return countsOf(await rowsOf<CountRow>(clickhouse, ofRange, { query: compose("from-rows") }));
}

interface StaleDaysRow {
  reads_sets: 0 | 1;
  stale: PackageDate[];
}

/** Addresses and companies of several buckets are no sum: the range has a row of its own. */
function countsOf(rows: readonly CountRow[]): RangeCounts {
  const totals = { downloads: 0, views: 0, addresses: 0, companies: 0 };
  const buckets = new Map<string, Counts>();
  for (const { measure, bucket, amount } of rows) {
    if (measure === "missing") continue;
    const isSum = measure === "downloads" || measure === "views";
    if (isSum === (bucket !== "")) totals[measure] += amount;
    if (bucket === "" || measure === "companies") continue;
    const counts = buckets.get(bucket) ?? { downloads: 0, views: 0, addresses: 0 };
    counts[measure] += amount;
    buckets.set(bucket, counts);
  }
  return { totals, buckets };
}

async function readLists(clickhouse: ClickHouse, query: ListsQuery): Promise<Map<string, ListRow[]>> {
  const grouping = groupingOf(query);
  const statement = composeTableLists(query.lists, scopedOf(query), { ...query, grouping });
  if (statement === undefined) return new Map();
  return rowsByList(
    await rowsOf<RawListRow>(clickhouse, query, { query: statement, params: listParams(query) }),
  );
}
