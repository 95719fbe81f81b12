import type { ClickHouse } from "../../schemas/shards.js";
import type { StatisticsList } from "../../schemas/contracts/breakdowns.js";
import { storableRange } from "../../schemas/date-range.js";
import { composeAddresses, composeEventLists, composeEventVariables } from "./compose-from-events.js";
import { openLiveRows, type Live } from "./live-rows.js";
import { companiesOf, listParams, rowsByList, type RawListRow } from "./statistics-lists.js";
import { rowsOf } from "./run-statement.js";
import { groupingOf } from "./group-version.js";
import {
  type BucketsQuery,
  comparedOf,
  type Counts,
  type ListsQuery,
  type RangeCounts,
  type StatisticsQuery,
  type StatisticsReader,
} from "./statistics-query.js";

export const readFromEvents: StatisticsReader = {
  async statistics(clickhouse, query) {
    const live = await openLiveRows(query);
    const [rows, addresses, variables] = await Promise.all([
      readPass(clickhouse, query, live),
      rowsOf<AddressRow>(clickhouse, query, {
        query: composeAddresses(live.rows, { interval: query.interval, compares: comparedOf(query) }),
        params: live.params,
      }),
      readVariables(clickhouse, query, live),
    ]);
    const isNow = isWithin(query);
    return {
      now: countsOf(rows, addresses, { isNow: true, ofNow: isNow }),
      ...(query.compared !== undefined && { compared: { totals: comparedTotals(rows, addresses) } }),
      ...(query.before !== undefined && {
        before: countsOf(rows, addresses, { isNow: false, ofNow: isNow }),
      }),
      lists: rowsByList([...rows, ...variables]),
    };
  },

  async list(clickhouse, query) {
    const live = await openLiveRows(query);
    const [rows, variables] = await Promise.all([
      readPass(clickhouse, { ...query, interval: "day" }, live),
      readVariables(clickhouse, query, live),
    ]);
    const [list] = query.lists;
    const counted = query.packages.length === 0 ? "views" : (list?.counts ?? "downloads");
    const isNow = isWithin(query);
    const total = rows
      .filter(({ bucket }) => bucket !== "" && isNow(bucket))
      .reduce((sum, row) => sum + row[counted], 0);
    return { total, rows: rowsByList([...rows, ...variables]).get(list?.name ?? "") ?? [] };
  },
};

interface PassRow extends RawListRow {
  bucket: string;
  downloads: number;
  views: number;
  downloads_compared: number;
  views_compared: number;
}

/** Every list but those of variables, and the buckets, in one pass. */
function readPass(clickhouse: ClickHouse, query: BucketsQuery & ListsQuery, live: Live): Promise<PassRow[]> {
  const lists = query.lists.filter((list) => !isOfVariables(list));
  return rowsOf<PassRow>(clickhouse, query, {
    query: composeEventLists(live.rows, {
      ...query,
      lists,
      grouping: groupingOf(query),
      counted: { packages: query.packages.length > 0, pixels: query.pixels.length > 0 },
      compares: comparedOf(query),
    }),
    params: { ...live.params, ...listParams(query) },
  });
}

async function readVariables(clickhouse: ClickHouse, query: ListsQuery, live: Live): Promise<RawListRow[]> {
  const list = query.lists.find(isOfVariables);
  if (list === undefined) return [];
  return rowsOf<RawListRow>(clickhouse, query, {
    query: composeEventVariables(live.rows, { ...query, list: list.name }),
    params: { ...live.params, ...listParams(query) },
  });
}

/** The variables of an event are many values of one list. */
function isOfVariables({ map }: StatisticsList): boolean {
  return map === "variables";
}

interface AddressRow {
  is_now: 0 | 1;
  bucket: string;
  addresses: number;
  compared: number;
}

type IsNow = (bucket: string) => boolean;

function isWithin({ range }: StatisticsQuery): IsNow {
  const { start, end } = storableRange(range);
  return (bucket) => bucket >= start && bucket < end;
}

/** Buckets of the range before have none of the days that are compared. */
function comparedTotals(rows: readonly PassRow[], addressRows: readonly AddressRow[]): RangeCounts["totals"] {
  const buckets = rows.filter(({ bucket }) => bucket !== "");
  return {
    downloads: buckets.reduce((sum, row) => sum + row.downloads_compared, 0),
    views: buckets.reduce((sum, row) => sum + row.views_compared, 0),
    addresses: addressRows.find(({ is_now: now, bucket }) => now === 1 && bucket === "")?.compared ?? 0,
    companies: companiesOf(rows).compared,
  };
}

function countsOf(
  rows: readonly PassRow[],
  addressRows: readonly AddressRow[],
  { isNow, ofNow }: { isNow: boolean; ofNow: IsNow },
): RangeCounts {
  const buckets = new Map<string, Counts>();
  const totals = { downloads: 0, views: 0, addresses: 0, companies: 0 };
  for (const { bucket, downloads, views } of rows) {
    if (bucket === "" || ofNow(bucket) !== isNow) continue;
    buckets.set(bucket, { downloads, views, addresses: 0 });
    totals.downloads += downloads;
    totals.views += views;
  }
  for (const { is_now: now, bucket, addresses } of addressRows) {
    if (Boolean(now) !== isNow) continue;
    const counts = bucket === "" ? totals : buckets.get(bucket);
    if (counts !== undefined) counts.addresses = addresses;
  }
  totals.companies = companiesOf(rows)[isNow ? "now" : "before"];
  return { totals, buckets };
}
