import type { StatisticsList } from "../../schemas/contracts/breakdowns.js";
import type { Interval } from "../../schemas/contracts/statistics.js";
import { sqlName } from "../queries/sql-literals.js";
import { bucketSql } from "./buckets.js";
import { firstRowsSql, listConditions, valueSql, type ListNarrowing } from "./statistics-lists.js";
import type { Grouping } from "./group-version.js";
import type { Compares } from "./statistics-query.js";

/** Makes a query of the live rows, with these columns of `events` and `sign`; see `live-rows.sql`. */
export type LiveRows = (columns: readonly string[], conditions?: readonly string[]) => string;

export const HAS_ADDRESS = "endpoint_id != toFixedString('', 16)";

/** Of the two ranges only the first days of one may be compared. */
export const IS_COMPARED = "date < {comparedEnd:Date}";
export const IS_NOW = "date >= {start:Date} AND date < {end:Date}";

/** The two ranges do not overlap, so a day has one bucket. */
export function bucketOf(interval: Interval): string {
  if (interval === "day" || interval === "hour") return bucketSql(interval, "start");
  return `if(${IS_NOW}, ${bucketSql(interval, "start")}, ${bucketSql(interval, "beforeStart")})`;
}

/** As in `uniques`, which says why these are 64 bits. */
export const ADDRESS = "reinterpretAsUInt64(endpoint_id)";

function columnsOf(interval: Interval): string[] {
  return interval === "hour" ? ["date", "time"] : ["date"];
}

/**
 * How many addresses were there? Rows of (is_now, bucket, addresses, compared); the bucket is empty for the whole range.
 * Signs are added up first: an address that only removed versions had does not count. Where no part of the range is
 * compared, nothing is counted for it, which takes a third of the time.
 */
export function composeAddresses(
  liveRows: LiveRows,
  { interval, compares }: Pick<EventLists, "interval" | "compares">,
): string {
  const isPart = compares === "part";
  return `SELECT is_now, if(grouping(day) = 1, '', toString(day)) AS bucket, uniqExact(address) AS addresses,
  ${isPart ? "uniqExactIf(address, is_compared)" : "0"} AS compared
FROM
(
  SELECT ${IS_NOW} AS is_now, ${bucketOf(interval)} AS day, ${ADDRESS} AS address${isPart ? `, ${IS_COMPARED} AS is_compared` : ""}
  FROM (${liveRows([...columnsOf(interval), "endpoint_id"], [HAS_ADDRESS])})
  GROUP BY is_now, day, address${isPart ? ", is_compared" : ""}
  HAVING sum(sign) > 0
)
GROUP BY GROUPING SETS ((is_now, day), (is_now))`;
}

export interface EventLists extends ListNarrowing {
  lists: readonly StatisticsList[];
  grouping: Grouping;
  interval: Interval;
  /** Which kinds of artifacts are counted: of pixels alone, every list counts views. */
  counted: { packages: boolean; pixels: boolean };
  compares: Compares;
}

/**
 * How often was each value of these lists there, and what happened in each bucket? `present` is how many
 * values a list has; a row with an empty list is a bucket. Not for variables. One pass over the events serves
 * all lists: a pass for each takes 2.5 times as long.
 */
export function composeEventLists(
  liveRows: LiveRows,
  { lists, grouping, interval, counted, compares, ...narrowing }: EventLists,
): string {
  const keyed = lists.map((list) => ({
    name: sqlName(list.name),
    counts: list.counts,
    keys: keysOf(list, grouping),
  }));
  const keys = keyed.flatMap((list) => list.keys);
  const columns = new Set([...columnsOf(interval), "kind", ...keys.flatMap(({ reads }) => reads)]);
  const sums = sumsOf(counted, compares).map(({ name, sql }) => `${sql} AS ${name}`);
  const { searched, followed } = listConditions(narrowing);
  return `SELECT list, bucket, value_1, value_2, ${measureSql(keyed, counted, "now")} AS amount,
  ${measureSql(keyed, counted, "compared")} AS compared, ${measureSql(keyed, counted, "before")} AS before,
  downloads_now + downloads_before AS downloads, views_now + views_before AS views, downloads_compared, views_compared,
  countIf(downloads_now + views_now > 0) OVER (PARTITION BY list) AS present,
  countIf(downloads_compared + views_compared > 0) OVER (PARTITION BY list) AS present_compared,
  countIf(downloads_before + views_before > 0) OVER (PARTITION BY list) AS present_before
FROM
(
  SELECT ${byList(keyed, ({ name }) => `'${name}'`)} AS list,
    if(grouping(day) = 0, toString(day), '') AS bucket,
    ${[0, 1].map((index) => `${byList(keyed, (list) => textOf(list.keys[index]))} AS value_${index + 1}`).join(",\n    ")},
    ${sums.join(",\n    ")}
  FROM
  (
    SELECT ${[
      `${IS_NOW} AS is_now`,
      ...(compares === "part" ? [`${IS_COMPARED} AS is_compared`] : []),
      `${bucketOf(interval)} AS day`,
      "kind",
      "sign",
      ...keys.map(({ name, sql }) => `${sql} AS ${name}`),
    ].join(", ")}
    FROM (${liveRows([...columns])})
  )
  GROUP BY GROUPING SETS (${["(day)", ...keyed.map((list) => `(${list.keys.map(({ name }) => name).join(", ")})`)].join(", ")})
)
WHERE bucket != '' OR (value_1 != ''${searched}${followed})
${firstRowsSql(lists, "list, bucket")}`;
}

interface KeyedList extends Pick<StatisticsList, "name" | "counts"> {
  keys: readonly Key[];
}

/** An expression that depends on the list of a row; empty text for a bucket. */
function byList(lists: readonly KeyedList[], sqlOf: (list: KeyedList) => string): string {
  if (lists.length === 0) return "''";
  return `multiIf(${lists.map((list) => `grouping(${list.keys[0]?.name}) = 0, ${sqlOf(list)}`).join(", ")}, '')`;
}

function textOf(key: Key | undefined): string {
  return key === undefined ? "''" : `toString(${key.name})`;
}

/** Six sums; those that nothing can be in, or that are another one, are not computed. */
function sumsOf(
  { packages, pixels }: EventLists["counted"],
  compares: Compares,
): { name: string; sql: string }[] {
  const kinds = [
    { measure: "downloads", kind: "package", counts: packages },
    { measure: "views", kind: "pixel", counts: pixels },
  ];
  return kinds.flatMap(({ measure, kind, counts }) =>
    PERIODS.map(({ period, condition }) => {
      if (period === "compared" && compares !== "part")
        return { name: `${measure}_compared`, sql: `${measure}_now` };
      const conditions = [
        ...(compares === "nothing" ? [] : [condition]),
        ...(packages && pixels ? [`kind = '${kind}'`] : []),
      ];
      const none = !counts || (period === "before" && compares === "nothing");
      const sql = conditions.length === 0 ? "sum(sign)" : `sumIf(sign, ${conditions.join(" AND ")})`;
      return { name: `${measure}_${period}`, sql: none ? "toInt64(0)" : sql };
    }),
  );
}

const PERIODS = [
  { period: "now", condition: "is_now" },
  { period: "compared", condition: "is_now AND is_compared" },
  { period: "before", condition: "NOT is_now" },
] as const;

function measureSql(
  lists: readonly KeyedList[],
  { packages }: EventLists["counted"],
  period: (typeof PERIODS)[number]["period"],
): string {
  const viewed = lists.filter(({ counts }) => !packages || counts === "views").map(({ name }) => `'${name}'`);
  if (viewed.length === 0) return `downloads_${period}`;
  return `if(list IN (${viewed.join(", ")}), views_${period}, downloads_${period})`;
}

interface Key {
  name: string;
  sql: string;
  reads: readonly string[];
}

/** The list's values of a row; empty where the row is not counted in it. */
function keysOf(list: StatisticsList, grouping: Grouping): Key[] {
  const { name, values, libraryType, counts } = list;
  return values.map(({ column }, index) => {
    const value = sqlName(column);
    const named = { name: `${sqlName(name)}_${index + 1}` };
    if (counts === "views") return { ...named, sql: `if(kind = 'pixel', ${value}, '')`, reads: [value] };
    if (libraryType === undefined) return { ...named, sql: valueSql(value, list, grouping), reads: [value] };
    return {
      ...named,
      sql: `if(library_type = '${libraryType}', ${value}, '')`,
      reads: [value, "library_type"],
    };
  });
}

/**
 * How often did packages of type `other` have each value of each variable? An event counts once for each of
 * them.
 */
export function composeEventVariables(
  liveRows: LiveRows,
  { list, ...narrowing }: ListNarrowing & { list: string },
): string {
  const { searched, followed } = listConditions(narrowing);
  const rows = liveRows(["date", "variables"], ["kind = 'package'", "library_type = 'other'"]);
  return `SELECT '${sqlName(list)}' AS list, value_1, value_2, sumIf(sign, ${IS_NOW}) AS amount,
  sumIf(sign, ${IS_NOW} AND ${IS_COMPARED}) AS compared, sumIf(sign, NOT (${IS_NOW})) AS before
FROM (${rows})
ARRAY JOIN mapKeys(variables) AS value_1, mapValues(variables) AS value_2
GROUP BY value_1, value_2
HAVING amount > 0${searched}${followed}
ORDER BY amount DESC, value_1, value_2
LIMIT {limit:UInt32}`;
}
