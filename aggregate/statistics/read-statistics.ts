import type { ClickHouse } from "../../schemas/shards.js";
import type { Automation, Interval } from "../../schemas/contracts/statistics.js";
import type { StatisticsList } from "../../schemas/contracts/breakdowns.js";
import { readFromEvents } from "./read-from-events.js";
import { readFromTables } from "./read-from-tables.js";
import { firstVersions, listVersions } from "./list-versions.js";
import type {
  BucketsQuery,
  ListRead,
  ListsQuery,
  StatisticsQuery,
  StatisticsRead,
  StatisticsReader,
} from "./statistics-query.js";
import { rowsOf } from "./run-statement.js";

/** Counts of a range and of its buckets, and the first rows of some lists. Rejects when ClickHouse or the signal ends it. */
export async function readStatistics(
  clickhouse: ClickHouse,
  query: BucketsQuery & ListsQuery,
): Promise<StatisticsRead> {
  if (query.packages.length + query.pixels.length === 0) return nothing(query);
  const lists = query.lists.filter(hasRows(query));
  const read = await readerOf(query, query.interval).statistics(clickhouse, { ...query, lists });
  const ordered = lists
    .filter(({ isOfVersions }) => isOfVersions === true)
    .map(async ({ name }) => [name, await firstVersions(read.lists.get(name) ?? [], query)] as const);
  return { ...read, lists: new Map([...read.lists, ...(await Promise.all(ordered))]) };
}

export async function readList(clickhouse: ClickHouse, query: ListsQuery): Promise<ListRead> {
  if (query.packages.length + query.pixels.length === 0) return { total: 0, rows: [] };
  const reader = readerOf(query);
  return query.lists[0]?.isOfVersions === true
    ? listVersions((narrowed) => reader.list(clickhouse, narrowed), query)
    : reader.list(clickhouse, query);
}

/**
 * The tables of the breakdowns have sums by day and value: they answer whatever needs no two properties of
 * one event, and no times.
 */
function readerOf({ packages, filters }: StatisticsQuery, interval: Interval = "day"): StatisticsReader {
  const isInTables = filters.length === 0 && packages.length > 0 && interval !== "hour";
  return isInTables ? readFromTables : readFromEvents;
}

/** Whether a list can have rows. */
function hasRows({ packages, libraryTypes, pixels }: StatisticsQuery) {
  return ({ counts, libraryType }: StatisticsList): boolean => {
    if (counts === "views") return pixels.length > 0;
    return libraryType === undefined ? packages.length + pixels.length > 0 : libraryTypes.has(libraryType);
  };
}

function nothing({ before, compared }: StatisticsQuery): StatisticsRead {
  const counts = { totals: { downloads: 0, views: 0, addresses: 0, companies: 0 }, buckets: new Map() };
  return {
    now: counts,
    ...(compared !== undefined && { compared: counts }),
    ...(before !== undefined && { before: counts }),
    lists: new Map(),
  };
}

/** The downloads of one package on one day. Days without any are left out. */
export interface PackageDay {
  /** UUID. */
  package: string;
  /** `YYYY-MM-DD`. */
  date: string;
  downloads: number;
}

/** How often was each package downloaded on each day? Settlement has moved overrides in the table that this reads. */
export function readPackageDays(
  clickhouse: ClickHouse,
  query: Pick<StatisticsQuery, "packages" | "range" | "before" | "automated" | "signal">,
): Promise<PackageDay[]> {
  return rowsOf<PackageDay>(clickhouse, { ...query, pixels: [] }, { query: packageDays(query.automated) });
}

const packageDays = (automated: Automation) => `SELECT package, date,
  toInt64(sum(${automated === "exclude" ? "total - automated_total" : "total"})) AS downloads
FROM totals
WHERE package IN (packages)
  AND (date >= {start:Date} AND date < {end:Date} OR date >= {beforeStart:Date} AND date < {beforeEnd:Date})
GROUP BY package, date
HAVING downloads > 0`;
