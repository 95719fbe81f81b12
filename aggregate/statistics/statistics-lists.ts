import type { ListsQuery, ListRow } from "./statistics-query.js";
import { STATISTICS_LISTS, type StatisticsList } from "../../schemas/contracts/breakdowns.js";
import { nameLiterals } from "../queries/sql-literals.js";
import { RANGE_DAYS_MAX } from "../../schemas/date-range.js";
import { type Grouping, groupSql } from "./group-version.js";

export type ListNarrowing = Pick<ListsQuery, "search" | "after">;

/** Versions of equal counts that are ordered as versions; more are in the order of their text. */
export const TIES_MAX = 1_000;

/** A row each, of the range and of the one to compare with, in the statement that has lists and buckets. */
const BUCKETS_MAX = 2 * RANGE_DAYS_MAX;

/** SQL of a list's value: of versions, their group. */
export function valueSql(sql: string, { isOfVersions }: StatisticsList, grouping: Grouping): string {
  return isOfVersions === true ? groupSql(sql, grouping) : sql;
}

/**
 * SQL that ends a query of (list, amount, value_1, value_2) with the first rows of each list. SQL cannot order versions of
 * equal counts: of them it leaves at least `TIES_MAX` rows more, after all other rows.
 */
export function firstRowsSql(lists: readonly StatisticsList[], by = "list"): string {
  const ofVersions = lists.filter(({ isOfVersions }) => isOfVersions === true);
  const isOfVersions = `list IN (${nameLiterals(ofVersions)})`;
  const [first, alone] =
    ofVersions.length === 0 ? ["", ""] : [`${isOfVersions}, `, `, if(${isOfVersions}, value_1, '')`];
  return `ORDER BY ${first}amount DESC, value_1, value_2
LIMIT {limit:UInt32} BY ${by}${alone}
LIMIT {rowsMax:UInt32}`;
}

/** Conditions on the rows (value_1, value_2, amount) of a list, to append to others; empty where nothing is narrowed. */
export function listConditions({ search, after }: ListNarrowing): { searched: string; followed: string } {
  return {
    searched:
      search === undefined
        ? ""
        : "\n  AND (positionCaseInsensitiveUTF8(value_1, {search:String}) > 0 OR positionCaseInsensitiveUTF8(value_2, {search:String}) > 0)",
    followed:
      after === undefined
        ? ""
        : after.values.length === 0
          ? "\n  AND amount <= {afterCount:Int64}"
          : "\n  AND (amount < {afterCount:Int64} OR (amount = {afterCount:Int64} AND (value_1, value_2) > ({afterValue1:String}, {afterValue2:String})))",
  };
}

/** The parameters of these conditions, and of `firstRowsSql`. */
export function listParams({ search, after, lists, limit }: ListsQuery): Record<string, unknown> {
  const [first = "", second = ""] = after?.values ?? [];
  return {
    limit,
    rowsMax: lists.length * limit + BUCKETS_MAX + TIES_MAX,
    ...(search !== undefined && { search }),
    ...(after !== undefined && { afterCount: after.count, afterValue1: first, afterValue2: second }),
  };
}

/** A row of a list as statements answer it. `present` is how many values the whole list has in a part of the ranges. */
export interface RawListRow {
  list: string;
  value_1: string;
  value_2: string;
  amount: number;
  compared: number;
  before: number;
  present: number;
  present_compared: number;
  present_before: number;
}

/** How many companies there were in each part; none where their list was not asked for. */
export function companiesOf(rows: readonly RawListRow[]): Record<"now" | "compared" | "before", number> {
  const row = rows.find(({ list }) => list === "company");
  return {
    now: row?.present ?? 0,
    compared: row?.present_compared ?? 0,
    before: row?.present_before ?? 0,
  };
}

/** The rows of each list, in their order; rows that only the range before has are left out. */
export function rowsByList(rows: readonly RawListRow[]): Map<string, ListRow[]> {
  const lists = new Map<string, ListRow[]>();
  for (const { list, value_1, value_2, amount, compared, before } of rows) {
    if (amount <= 0) continue;
    const values = [value_1, value_2].slice(0, WIDTHS.get(list));
    const others = lists.get(list);
    if (others === undefined) lists.set(list, [{ count: amount, compared, before, values }]);
    else others.push({ count: amount, compared, before, values });
  }
  return lists;
}

const WIDTHS: ReadonlyMap<string, number> = new Map(
  STATISTICS_LISTS.map(({ name, values }) => [name, values.length]),
);
