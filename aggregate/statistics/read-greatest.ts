import { LRUCache } from "lru-cache";
import type { ClickHouse } from "../../schemas/shards.js";
import type { StatisticsList } from "../../schemas/contracts/breakdowns.js";
import { nameLiterals } from "../queries/sql-literals.js";
import { BOTH_RANGES, OF_PACKAGES } from "./compose-from-tables.js";
import { isIn, partSums } from "./compose-table-lists.js";
import { rowsOf } from "./run-statement.js";
import type { RawListRow } from "./statistics-lists.js";
import type { Compares, ListsQuery } from "./statistics-query.js";

/** A row of a list by the `value_hash` of its values. */
interface HashedRow extends Omit<RawListRow, "value_1" | "value_2"> {
  /** Decimal digits. */
  hash: string;
  /** `YYYY-MM-DD`: the last day that has a row of it. */
  day: string;
}

interface HashedValues {
  hash: string;
  value_1: string;
  value_2: string;
}

/** By their hash, which never stands for others. An hour later those of erased packages are gone. Takes up to 32 MB. */
const knownValues = new LRUCache<string, HashedValues>({
  ttl: 3_600_000,
  // In UTF-16 units, and for an entry by itself 200.
  maxSize: 16_000_000,
  sizeCalculation: ({ value_1, value_2 }) => 200 + value_1.length + value_2.length,
});

/** A page of 1,000 rows, and the row that says whether others follow. */
const LIMIT_MAX = 1_001;
/** Which of the rows with the count of the last one come first depends on their values: so many more rows are looked at. */
const MORE_ROWS = 100;

/** Whether the first rows of a list can be found without the values of the others. */
export function isFoundByHash({ limit, search, after, versions = "exact" }: ListsQuery) {
  const isFirstPage = limit <= LIMIT_MAX && search === undefined && after === undefined;
  return ({ counts, isOfVersions }: StatisticsList): boolean =>
    isFirstPage && counts === "downloads" && (isOfVersions !== true || versions === "exact");
}

/**
 * The first rows of lists for which `isFoundByHash`; of versions, with all others that have the count of the last one. Finds
 * by their hashes which rows they are, and reads the values of these alone, unless it knows them: to read all values takes
 * four times as long. Leaves out a list where more than `MORE_ROWS` others may have the count of the last one.
 */
export async function readGreatest(
  clickhouse: ClickHouse,
  query: ListsQuery,
  compares: Compares,
): Promise<Map<string, RawListRow[]>> {
  const { lists, limit } = query;
  if (lists.length === 0) return new Map();
  const hashed = await rowsOf<HashedRow>(clickhouse, query, {
    query: composeHashed(query, compares),
    params: { rowsMax: limit + MORE_ROWS },
  });
  const first = lists.flatMap(({ name, isOfVersions }) => {
    const ofList = hashed.filter(({ list }) => list === name);
    const rows = firstOf(ofList, limit);
    return rows === undefined ? [] : [{ name, rows, limit: isOfVersions === true ? rows.length : limit }];
  });
  const values = await readValues(
    clickhouse,
    query,
    first.flatMap(({ rows }) => rows),
  );
  const greatest = new Map<string, RawListRow[]>();
  for (const { name, rows, limit: rowsMax } of first) {
    const read = rows.flatMap((row) => {
      const ofRow = values.get(row.hash);
      return ofRow === undefined ? [] : [{ ...row, ...ofRow }];
    });
    // A row may go while its values are read.
    if (read.length === rows.length) greatest.set(name, read.toSorted(greatestFirst).slice(0, rowsMax));
  }
  return greatest;
}

/**
 * The rows with the greatest counts, and all rows with the count of the last one. Undefined where there may be more of these.
 * Where only the range before has rows, one of them, which says how many they are.
 */
function firstOf(rows: readonly HashedRow[], limit: number): HashedRow[] | undefined {
  const least = Math.max(1, rows[limit - 1]?.amount ?? 1);
  if (rows.length >= limit + MORE_ROWS && rows.at(-1)?.amount === least) return undefined;
  const first = rows.filter(({ amount }) => amount >= least);
  return first.length > 0 ? first : rows.slice(0, 1);
}

/** As ClickHouse orders texts: by their bytes. Values are UTF-8. */
function greatestFirst(one: RawListRow, other: RawListRow): number {
  return (
    other.amount - one.amount ||
    Buffer.compare(Buffer.from(one.value_1), Buffer.from(other.value_1)) ||
    Buffer.compare(Buffer.from(one.value_2), Buffer.from(other.value_2))
  );
}

/** Rows carry the number of their list: its name would take as long to read as the values. */
function composeHashed({ lists, automated }: ListsQuery, compares: Compares): string {
  const names = `[${nameLiterals(lists)}]`;
  const { ofArtifacts, amount } = OF_PACKAGES[automated];
  return `SELECT ${names}[number] AS list, toString(value_hash) AS hash, toString(last_day) AS day, amount, compared, before,
  present, present_compared, present_before
FROM
(
  SELECT any(transform(breakdown, ${names}, range(1, length(${names}) + 1), 0)) AS number, value_hash, max(date) AS last_day,
    ${partSums(amount, { by: "number" })}
  FROM breakdown_values
  WHERE ${ofArtifacts} AND ${BOTH_RANGES} AND breakdown IN (${names})
  GROUP BY value_hash
  HAVING ${isIn(compares)}
  ORDER BY amount DESC
  LIMIT {rowsMax:UInt32} BY number
)`;
}

/** The values of rows, by hash. Reads only days that have unknown values. */
async function readValues(
  clickhouse: ClickHouse,
  query: ListsQuery,
  rows: readonly HashedRow[],
): Promise<Map<string, HashedValues>> {
  const values = new Map<string, HashedValues>();
  const unknown: HashedRow[] = [];
  for (const row of rows) {
    const ofRow = knownValues.get(row.hash);
    if (ofRow === undefined) unknown.push(row);
    else values.set(row.hash, ofRow);
  }
  if (unknown.length === 0) return values;
  const read = await rowsOf<HashedValues>(clickhouse, query, {
    query: `SELECT toString(value_hash) AS hash, any(value_1) AS value_1, any(value_2) AS value_2
FROM breakdown_values
WHERE package IN (packages) AND date IN {days:Array(Date)} AND value_hash IN {hashes:Array(UInt64)}
GROUP BY value_hash`,
    params: {
      days: [...new Set(unknown.map(({ day }) => day))],
      hashes: unknown.map(({ hash }) => BigInt(hash)),
    },
  });
  for (const ofRow of read) {
    knownValues.set(ofRow.hash, ofRow);
    values.set(ofRow.hash, ofRow);
  }
  return values;
}
