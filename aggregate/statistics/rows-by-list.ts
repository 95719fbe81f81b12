import { STATISTICS_LISTS } from "../../schemas/contracts/breakdowns.js";
import type { ListRow } from "./statistics-query.js";

/** A row of a list as statements answer it. */
export interface RawListRow {
  list: string;
  value_1: string;
  value_2: string;
  amount: number;
  before: number;
}

/** The rows of each list, in their order; rows that only the range before has are left out. */
export function rowsByList(rows: readonly RawListRow[]): Map<string, ListRow[]> {
  const lists = new Map<string, ListRow[]>();
  for (const { list, value_1, value_2, amount, before } of rows) {
    if (amount <= 0) continue;
    const values = [value_1, value_2].slice(0, WIDTHS.get(list));
    const others = lists.get(list);
    if (others === undefined) lists.set(list, [{ count: amount, before, values }]);
    else others.push({ count: amount, before, values });
  }
  return lists;
}

const WIDTHS: ReadonlyMap<string, number> = new Map(
  STATISTICS_LISTS.map(({ name, values }) => [name, values.length]),
);
