import type { ListsQuery } from "./statistics-query.js";

export type ListNarrowing = Pick<ListsQuery, "search" | "after">;

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
        : "\n  AND (amount < {afterCount:Int64} OR (amount = {afterCount:Int64} AND (value_1, value_2) > ({afterValue1:String}, {afterValue2:String})))",
  };
}

/** The parameters of these conditions. */
export function listParams({ search, after }: ListNarrowing): Record<string, unknown> {
  const [first = "", second = ""] = after?.values ?? [];
  return {
    ...(search !== undefined && { search }),
    ...(after !== undefined && { afterCount: after.count, afterValue1: first, afterValue2: second }),
  };
}
