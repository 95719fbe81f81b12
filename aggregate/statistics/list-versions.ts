import { setImmediate } from "node:timers/promises";
import { newestFirst } from "./compare-versions.js";
import { schemeOf } from "./group-version.js";
import { TIES_MAX } from "./statistics-lists.js";
import type { ListRead, ListRow, ListsQuery } from "./statistics-query.js";

type Order = Pick<ListsQuery, "libraryTypes" | "limit">;

/**
 * A page of versions. Those of equal counts are in the order of versions or, where they are more than `TIES_MAX`, of their
 * text, of which SQL reads a page by itself. Otherwise all of the count of `after` are read to find its place among them.
 */
export async function listVersions(
  read: (query: ListsQuery) => Promise<ListRead>,
  query: ListsQuery,
): Promise<ListRead> {
  const { after, limit, libraryTypes } = query;
  if (after === undefined) {
    const { total, rows } = await read(query);
    return { total, rows: await firstVersions(rows, query) };
  }
  const ofCount = { count: after.count, values: [] };
  const { total, rows } = await read({ ...query, after: ofCount, limit: limit + TIES_MAX });
  const ties = rows.filter(({ count }) => count === after.count);
  if (ties.length <= TIES_MAX) {
    const compare = newestFirst(schemeOf(libraryTypes));
    const isAfter = ({ count, values: [version = ""] }: ListRow) =>
      count < after.count || compare(after.values[0] ?? "", version) < 0;
    return { total, rows: await firstVersions(rows.filter(isAfter), query) };
  }
  const followed = await read(query);
  const isTie = ({ count }: ListRow) => count === after.count;
  const inText = followed.rows.filter(isTie).slice(0, limit);
  const others = followed.rows.filter((row) => !isTie(row));
  const rest = await firstVersions(others, { libraryTypes, limit: limit - inText.length });
  return { total: followed.total, rows: [...inText, ...rest] };
}

/** The first rows in order, of rows by count and text that have at least `TIES_MAX` more or are all there are. */
export async function firstVersions(
  rows: readonly ListRow[],
  { libraryTypes, limit }: Order,
): Promise<ListRow[]> {
  const compare = newestFirst(schemeOf(libraryTypes));
  const ordered: ListRow[] = [];
  let sorted = 0;
  for (const ties of tiesOf(rows)) {
    if (ordered.length >= limit) break;
    if (ties.length > TIES_MAX) {
      for (const tie of ties) ordered.push(tie);
      continue;
    }
    ordered.push(...ties.toSorted((one, other) => compare(one.values[0] ?? "", other.values[0] ?? "")));
    sorted += ties.length;
    if (sorted < TIES_MAX) continue;
    // A whole list as CSV has many: other requests are served in between.
    await setImmediate();
    sorted = 0;
  }
  return ordered.slice(0, limit);
}

/** Rows of equal counts, which stand together. */
function* tiesOf(rows: readonly ListRow[]): Generator<ListRow[]> {
  let start = 0;
  for (let end = 1; end <= rows.length; end += 1) {
    if (rows[end]?.count === rows[start]?.count) continue;
    yield rows.slice(start, end);
    start = end;
  }
}
