import type { StatisticsList } from "../../schemas/contracts/statistics/lists.js";
import type { Interval } from "../../schemas/contracts/statistics/statistics.js";
import { sqlName } from "../queries/sql-literals.js";
import { bucketSql } from "./buckets.js";
import { listConditions, type ListNarrowing } from "./list-conditions.js";

/** Makes a query of the live rows, with these columns of `events` and `sign`; see `live-rows.sql`. */
export type LiveRows = (columns: readonly string[], conditions?: readonly string[]) => string;

export const HAS_ADDRESS = "endpoint_id != toFixedString('', 16)";

const IS_NOW = "date >= {start:Date} AND date < {end:Date}";

/** The two ranges do not overlap, so a day has one bucket. */
function bucketOf(interval: Interval): string {
  if (interval === "day") return "date";
  return `if(${IS_NOW}, ${bucketSql(interval, "start")}, ${bucketSql(interval, "beforeStart")})`;
}

/** How many addresses were there? Rows of (is_now, bucket, addresses); the bucket is empty for the whole range. */
export function composeAddresses(liveRows: LiveRows, interval: Interval): string {
  return `SELECT is_now, if(grouping(day) = 1, '', toString(day)) AS bucket, uniqExact(endpoint_id) AS addresses
FROM
(
  SELECT ${IS_NOW} AS is_now, ${bucketOf(interval)} AS day, endpoint_id
  FROM (${liveRows(["date", "endpoint_id"], [HAS_ADDRESS])})
  GROUP BY is_now, day, endpoint_id
  HAVING sum(sign) > 0
)
GROUP BY GROUPING SETS ((is_now, day), (is_now))`;
}

export interface EventLists extends ListNarrowing {
  lists: readonly StatisticsList[];
  interval: Interval;
  /** Whether only pixels are counted: then every list counts views. */
  onlyPixels: boolean;
}

/**
 * How often was each value of these lists there, and what happened in each bucket? Rows of (list, bucket, value_1,
 * value_2, amount, before, downloads, views, present, present_before): the first values of each list, and a row with an
 * empty list for each bucket. `present` is how many values the list has. Variables are not for this.
 * One pass over the events serves all lists: a pass for each takes 2.5 times as long.
 */
export function composeEventLists(
  liveRows: LiveRows,
  { lists, interval, onlyPixels, ...narrowing }: EventLists,
): string {
  const keyed = lists.map((list) => ({ ...list, keys: keysOf(list) }));
  const columns = new Set([
    "date",
    "kind",
    ...keyed.flatMap(({ keys }) => keys.flatMap(({ reads }) => reads)),
  ]);
  const ofList = (valueOf: (list: (typeof keyed)[number]) => string) =>
    `multiIf(${keyed.map((list) => `grouping(${list.keys[0]?.name}) = 0, ${valueOf(list)}`).join(", ")}, '')`;
  const viewed = keyed.filter(({ counts }) => onlyPixels || counts === "views");
  const isViewed = `list IN ('', ${viewed.map(({ name }) => `'${sqlName(name)}'`).join(", ")})`;
  const measured = (suffix: string) =>
    viewed.length === 0 ? `downloads${suffix}` : `if(${isViewed}, views${suffix}, downloads${suffix})`;
  const { searched, followed } = listConditions(narrowing);
  return `SELECT list, bucket, value_1, value_2, ${measured("_now")} AS amount, ${measured("_before")} AS before,
  downloads_now + downloads_before AS downloads, views_now + views_before AS views,
  countIf(downloads_now + views_now > 0) OVER (PARTITION BY list) AS present,
  countIf(downloads_before + views_before > 0) OVER (PARTITION BY list) AS present_before
FROM
(
  SELECT
    ${keyed.length === 0 ? "''" : ofList(({ name }) => `'${sqlName(name)}'`)} AS list,
    if(grouping(day) = 0, toString(day), '') AS bucket,
    ${keyed.length === 0 ? "''" : ofList(({ keys }) => `toString(${keys[0]?.name})`)} AS value_1,
    ${keyed.length === 0 ? "''" : ofList(({ keys }) => (keys[1] === undefined ? "''" : `toString(${keys[1].name})`))} AS value_2,
    sumIf(sign, is_now AND kind = 'package') AS downloads_now, sumIf(sign, NOT is_now AND kind = 'package') AS downloads_before,
    sumIf(sign, is_now AND kind = 'pixel') AS views_now, sumIf(sign, NOT is_now AND kind = 'pixel') AS views_before
  FROM
  (
    SELECT ${IS_NOW} AS is_now, ${bucketOf(interval)} AS day, kind, sign${keyed
      .flatMap(({ keys }) => keys.map(({ name, sql }) => `,\n      ${sql} AS ${name}`))
      .join("")}
    FROM (${liveRows([...columns])})
  )
  GROUP BY GROUPING SETS ((day)${keyed.map(({ keys }) => `, (${keys.map(({ name }) => name).join(", ")})`).join("")})
)
WHERE bucket != '' OR (value_1 != ''${searched}${followed})
ORDER BY list, amount DESC, value_1, value_2
LIMIT {limit:UInt32} BY list, bucket`;
}

interface Key {
  name: string;
  sql: string;
  /** Columns of `events`. */
  reads: readonly string[];
}

/** The list's values of a row; empty where the row is not counted in it. */
function keysOf({ name, values, libraryType, counts }: StatisticsList): Key[] {
  return values.map(({ column }, index) => {
    const value = sqlName(column);
    const named = { name: `${sqlName(name)}_${index + 1}` };
    if (counts === "views") return { ...named, sql: `if(kind = 'pixel', ${value}, '')`, reads: [value] };
    if (libraryType === undefined) return { ...named, sql: value, reads: [value] };
    return {
      ...named,
      sql: `if(library_type = '${libraryType}', ${value}, '')`,
      reads: [value, "library_type"],
    };
  });
}

/**
 * How often did packages of type `other` have each value of each variable? An event counts once for each of its variables.
 * Rows of (list, value_1, value_2, amount, before).
 */
export function composeEventVariables(
  liveRows: LiveRows,
  { list, ...narrowing }: ListNarrowing & { list: string },
): string {
  const { searched, followed } = listConditions(narrowing);
  const rows = liveRows(["date", "variables"], ["kind = 'package'", "library_type = 'other'"]);
  return `SELECT '${sqlName(list)}' AS list, value_1, value_2, sumIf(sign, ${IS_NOW}) AS amount, sumIf(sign, NOT (${IS_NOW})) AS before
FROM (${rows})
ARRAY JOIN mapKeys(variables) AS value_1, mapValues(variables) AS value_2
GROUP BY value_1, value_2
HAVING amount > 0${searched}${followed}
ORDER BY amount DESC, value_1, value_2
LIMIT {limit:UInt32}`;
}
