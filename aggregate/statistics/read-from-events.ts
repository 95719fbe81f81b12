import type { ClickHouse } from "../../schemas/shards.js";
import { type StatisticsList, VERSION_COLUMN } from "../../schemas/contracts/breakdowns.js";
import { VERSION_GROUPINGS } from "../../schemas/contracts/statistics.js";
import { storableRange } from "../../schemas/date-range.js";
import { sqlName } from "../queries/sql-literals.js";
import { readQuery } from "../read-query.js";
import {
  composeAddresses,
  composeEventLists,
  composeEventVariables,
  type LiveRows,
} from "./compose-from-events.js";
import { listParams, rowsByList, type RawListRow } from "./statistics-lists.js";
import { rowsOf } from "./run-statement.js";
import { groupingOf, groupSql, isGroup, schemeOf, type VersionScheme } from "../versions/group-version.js";
import type {
  BucketsQuery,
  Counts,
  Filter,
  ListsQuery,
  RangeCounts,
  StatisticsQuery,
  StatisticsReader,
} from "./statistics-query.js";

export const readFromEvents: StatisticsReader = {
  async statistics(clickhouse, query) {
    const live = await liveRowsOf(query);
    const [rows, addresses, variables] = await Promise.all([
      readPass(clickhouse, query, live),
      rowsOf<AddressRow>(clickhouse, query, {
        query: composeAddresses(live.rows, query.interval),
        params: live.params,
      }),
      readVariables(clickhouse, query, live),
    ]);
    const isNow = isWithin(query);
    return {
      now: countsOf(rows, addresses, { isNow: true, ofNow: isNow }),
      ...(query.before !== undefined && {
        before: countsOf(rows, addresses, { isNow: false, ofNow: isNow }),
      }),
      lists: rowsByList([...rows, ...variables]),
    };
  },

  async list(clickhouse, query) {
    const live = await liveRowsOf(query);
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

interface Live {
  rows: LiveRows;
  params: Record<string, unknown>;
}

async function liveRowsOf({ filters, automated, unsettled, libraryTypes }: StatisticsQuery): Promise<Live> {
  const scheme = schemeOf(libraryTypes);
  const conditions = [
    ...filters.map((filter, index) => {
      const isOneOf = valuesOf(filter, { index, scheme }).map(
        (value) => `${value} IN {filter${index}:Array(String)}`,
      );
      return `(${isOneOf.join(" OR ")})`;
    }),
    ...(automated === "exclude" ? ["automated = ''"] : []),
  ];
  const { imports, fromVersion, retracted } = unsettled;
  const isSettled = imports.length === 0;
  const text = await readQuery(`statistics/${isSettled ? "live-rows" : "live-rows-unsettled"}`);
  return {
    rows: (columns, more = []) =>
      text
        .replaceAll(/^--.*\n/gm, "")
        .replaceAll("{columns}", columns.map(sqlName).join(", "))
        // As a function: in a text, `$` has a meaning.
        .replaceAll("{conditions}", () => [...conditions, ...more].map((each) => `AND ${each}`).join(" ")),
    params: {
      ...Object.fromEntries(filters.map(({ values }, index) => [`filter${index}`, values])),
      ...Object.fromEntries(
        filters.flatMap((filter, index) =>
          "variable" in filter ? [[`variable${index}`, filter.variable]] : [],
        ),
      ),
      ...(!isSettled && { unsettled: imports, unsettledFrom: fromVersion, retracted }),
    },
  };
}

/** SQL of what a filter compares: a version also by its groups, where one is asked for. */
function valuesOf(filter: Filter, { index, scheme }: { index: number; scheme: VersionScheme }): string[] {
  if ("variable" in filter) return [`variables[{variable${index}:String}]`];
  const value = sqlName(filter.column);
  if (filter.column !== VERSION_COLUMN || !filter.values.some(isGroup)) return [value];
  return VERSION_GROUPINGS.map((by) => groupSql(value, { scheme, by }));
}

interface PassRow extends RawListRow {
  bucket: string;
  downloads: number;
  views: number;
  present: number;
  present_before: number;
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
      compares: query.before !== undefined,
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
}

type IsNow = (bucket: string) => boolean;

function isWithin({ range }: StatisticsQuery): IsNow {
  const { start, end } = storableRange(range);
  return (bucket) => bucket >= start && bucket < end;
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
  const company = rows.find(({ list }) => list === "company");
  totals.companies = (isNow ? company?.present : company?.present_before) ?? 0;
  return { totals, buckets };
}
