import type { ClickHouse } from "../../schemas/shards.js";
import type { StatisticsList } from "../../schemas/contracts/breakdowns.js";
import type { Automation, Interval, VersionGrouping } from "../../schemas/contracts/statistics.js";
import type { DateRange } from "../../schemas/date-range.js";
import type { LibraryType } from "../../schemas/records/artifact.js";
import type { UnsettledImports } from "../../schemas/records/settlement.js";

/** Keeps events with one of the values. An empty value is an unknown one. */
export type Filter = { values: readonly string[] } & (
  | { /** A column of `events`. */ column: string }
  | { /** Name of a custom variable. */ variable: string }
);

export interface StatisticsQuery {
  /** UUIDs. */
  packages: readonly string[];
  /** The types of the packages: a list that counts packages of another type is empty. */
  libraryTypes: ReadonlySet<LibraryType>;
  /** UUIDs. Their views are counted. */
  pixels: readonly string[];
  range: DateRange;
  /** The range to compare with: it must not overlap `range`. */
  before?: DateRange | undefined;
  /** The first days of `range`, which alone are compared; absent where all are. */
  compared?: DateRange | undefined;
  /** Later events of `before` are left out. Of events alone: tables have days. */
  beforeUntil?: Date | undefined;
  filters: readonly Filter[];
  automated: Automation;
  /** The unsettled imports of the owner, as they were right before. */
  unsettled: UnsettledImports;
  signal: AbortSignal;
}

/** What is compared with the range before: nothing, the range, or its first days. */
export type Compares = "nothing" | "all" | "part";

export function comparedOf({ before, compared }: Pick<StatisticsQuery, "before" | "compared">): Compares {
  if (before === undefined) return "nothing";
  return compared === undefined ? "all" : "part";
}

export interface BucketsQuery extends StatisticsQuery {
  interval: Interval;
}

export interface ListsQuery extends StatisticsQuery {
  lists: readonly StatisticsList[];
  /** How lists of versions are grouped. */
  versions?: VersionGrouping | undefined;
  /** Rows of each list. */
  limit: number;
  /** Only rows with this in one of their values, whatever its case. */
  search?: string | undefined;
  /** Only rows that come after this one. */
  after?: ListPosition | undefined;
}

/** A row of a list: the greatest count comes first, then the newest version or the least values. */
export interface ListPosition {
  count: number;
  /** None for all rows of that count. */
  values: readonly string[];
}

/** The counts of a range, and of each of its buckets that has events. */
export interface RangeCounts {
  totals: Counts & { companies: number };
  /** By the bucket's first day within the range, or its hour; see `bucketsOf`. */
  buckets: ReadonlyMap<string, Counts>;
}

export interface Counts {
  downloads: number;
  views: number;
  addresses: number;
}

/** A row of a list: `compared` is its count in the days that are compared, `before` in the range to compare with. */
export interface ListRow extends ListPosition {
  compared: number;
  before: number;
}

export interface StatisticsRead {
  now: RangeCounts;
  /** Of the days that are compared; absent where all are. */
  compared?: Pick<RangeCounts, "totals">;
  /** The counts of the range to compare with; absent if there is none. */
  before?: RangeCounts;
  /** By the name of the list; absent if nothing is in it. */
  lists: ReadonlyMap<string, readonly ListRow[]>;
}

/** One list, with the number of downloads, or views, in the whole range. */
export interface ListRead {
  total: number;
  rows: readonly ListRow[];
}

/** Reads statistics from one source. Rejects when ClickHouse or the signal ends it. */
export interface StatisticsReader {
  statistics(clickhouse: ClickHouse, query: BucketsQuery & ListsQuery): Promise<StatisticsRead>;
  list(clickhouse: ClickHouse, query: ListsQuery): Promise<ListRead>;
}
