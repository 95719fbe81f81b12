import type { ClickHouse } from "../../schemas/shards.js";
import type { DateRange } from "../../schemas/date-range.js";
import { composeTableCounts, composeTableLists, READS_SETS, type Scoped } from "./compose-from-tables.js";
import { listParams, rowsByList, type RawListRow } from "./statistics-lists.js";
import { rowsOf } from "./run-statement.js";
import { groupingOf } from "../versions/group-version.js";
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
    const [now, before, lists] = await Promise.all([
      readCounts(clickhouse, query, query.range),
      query.before === undefined ? undefined : readCounts(clickhouse, query, query.before),
      readLists(clickhouse, query),
    ]);
    return { now, ...(before !== undefined && { before }), lists };
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

function scopedOf({ packages, pixels, automated }: StatisticsQuery): Scoped {
  return { packages: packages.length > 0, pixels: pixels.length > 0, automated };
}

interface CountRow {
  measure: "downloads" | "views" | "addresses" | "companies";
  bucket: string;
  amount: number;
}

async function readCounts(
  clickhouse: ClickHouse,
  query: BucketsQuery,
  range: DateRange,
): Promise<RangeCounts> {
  const ofRange = { ...query, range };
  const scoped = scopedOf(query);
  const [choice] = scoped.packages
    ? await rowsOf<{ reads_sets: 0 | 1 }>(clickhouse, ofRange, { query: READS_SETS })
    : [];
  const measures = choice?.reads_sets === 1 ? "all-from-sets" : "all";
  const rows = await rowsOf<CountRow>(clickhouse, ofRange, {
    query: composeTableCounts(scoped, { interval: query.interval, measures }),
  });
  const totals = { downloads: 0, views: 0, addresses: 0, companies: 0 };
  const buckets = new Map<string, Counts>();
  for (const { measure, bucket, amount } of rows) {
    // Addresses of several buckets are no sum: the range has a row of its own.
    if (bucket === "" || measure === "downloads" || measure === "views") totals[measure] += amount;
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
