import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { firstVersions, listVersions } from "../../../../aggregate/statistics/list-versions.js";
import { TIES_MAX } from "../../../../aggregate/statistics/statistics-lists.js";
import type { ListRow, ListsQuery } from "../../../../aggregate/statistics/statistics-query.js";
import { newestFirst } from "../../../../aggregate/statistics/compare-versions.js";

const byText = (one: string, other: string) => (one < other ? -1 : 1);
const versionOf = ({ values: [version = ""] }: ListRow) => version;

/** So many versions of each count, in no order. */
function rowsOf(ties: readonly number[]): ListRow[] {
  return ties.flatMap((size, index) =>
    Array.from({ length: size }, (_, place) => ({
      count: ties.length - index,
      compared: 0,
      before: 0,
      values: [`${(place * 7919) % size}.${index}.${place}`],
    })),
  );
}

/** Answers as the statements do: by count and text, `TIES_MAX` rows beyond the limit. */
function readerOf(rows: readonly ListRow[], read: number[]) {
  const sorted = rows.toSorted(
    (one, other) => other.count - one.count || byText(versionOf(one), versionOf(other)),
  );
  return ({ after, limit }: ListsQuery) => {
    const followed = sorted.filter((row) => {
      if (after === undefined || row.count < after.count) return true;
      return row.count === after.count && (after.values.length === 0 || versionOf(row) > after.values[0]!);
    });
    const answered = followed.slice(0, limit + TIES_MAX);
    read.push(answered.length);
    return Promise.resolve({ total: 0, rows: answered });
  };
}

/** Every page after the one before it. */
async function pagesOf(rows: readonly ListRow[], limit: number) {
  const read: number[] = [];
  const reader = readerOf(rows, read);
  const pages: ListRow[] = [];
  for (let page: readonly ListRow[] = [], isFirst = true; isFirst || page.length > 0; isFirst = false) {
    const query = { limit, after: pages.at(-1), libraryTypes: new Set(["npm"]) } as unknown as ListsQuery;
    ({ rows: page } = await listVersions(reader, query));
    expect(page.length).toBeLessThanOrEqual(limit);
    pages.push(...page);
  }
  return { pages, readMax: Math.max(...read) };
}

function inOrder(rows: readonly ListRow[]): ListRow[] {
  const newest = newestFirst("semver");
  const sizes = new Map<number, number>();
  for (const { count } of rows) sizes.set(count, (sizes.get(count) ?? 0) + 1);
  return rows.toSorted((one, other) => {
    if (one.count !== other.count) return other.count - one.count;
    const compare = (sizes.get(one.count) ?? 0) > TIES_MAX ? byText : newest;
    return compare(versionOf(one), versionOf(other));
  });
}

describe("pages of versions have every row once, in order, and few are read,", () => {
  test.each([
    [[], 10],
    [[1, 30, 2], 7],
    [[3, TIES_MAX, 5], 100],
    [[3, TIES_MAX + 1, 5], 100],
    [[TIES_MAX + 350, TIES_MAX, TIES_MAX + 1, 1], 100],
    [[TIES_MAX + 99, 1], 100],
  ])("of ties of %j by %i", async (ties, limit) => {
    const rows = rowsOf(ties);
    const { pages, readMax } = await pagesOf(rows, limit);
    expect(pages.map(versionOf)).toEqual(inOrder(rows).map(versionOf));
    expect(readMax).toBeLessThanOrEqual(limit + 2 * TIES_MAX);
  });

  test("whatever the ties and the limit", async () => {
    const ties = fc.array(fc.oneof(fc.nat(5), fc.integer({ min: TIES_MAX - 2, max: TIES_MAX + 3 })), {
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(ties, fc.integer({ min: 300, max: 900 }), async (sizes, limit) => {
        const rows = rowsOf(sizes);
        const { pages } = await pagesOf(rows, limit);
        expect(pages.map(versionOf)).toEqual(inOrder(rows).map(versionOf));
      }),
      { numRuns: 20 },
    );
  });
});

test("a whole list lets other work run in between", async () => {
  const rows = rowsOf([TIES_MAX, TIES_MAX, TIES_MAX]).toSorted((one, other) => other.count - one.count);
  let turns = 0;
  const count = () => void ((turns += 1), (timer = setImmediate(count)));
  let timer = setImmediate(count);
  await firstVersions(rows, { libraryTypes: new Set(["npm"]), limit: rows.length });
  clearImmediate(timer);
  expect(turns).toBeGreaterThanOrEqual(2);
});
