import type { StatisticsList } from "../../schemas/contracts/breakdowns.js";
import type { Automation, Interval } from "../../schemas/contracts/statistics.js";
import { liveAddresses } from "../queries/live-addresses.js";
import { staleDays, validSets } from "../queries/valid-sets.js";
import { sqlName } from "../queries/sql-literals.js";
import { bucketSql } from "./buckets.js";
import { ADDRESS, HAS_ADDRESS } from "./compose-from-events.js";
import { firstRowsSql, listConditions, valueSql, type ListNarrowing } from "./statistics-lists.js";
import type { Grouping } from "../versions/group-version.js";

const RANGE = "date >= {start:Date} AND date < {end:Date}";
const OF_RANGE = `package IN (packages) AND ${RANGE}`;
const BEFORE = "date >= {beforeStart:Date} AND date < {beforeEnd:Date}";

/** Which of the artifacts there are: a query without packages, say, leaves their tables out. */
export interface Scoped {
  packages: boolean;
  pixels: boolean;
  automated: Automation;
}

/**
 * What happened in a range, and in each of its buckets? The bucket is empty for the whole range. Takes
 * `packages` and `pixels` from the text in front. Settlement has moved overrides in these tables. Pixels have
 * none: their events are added up, and the row by which settlement removes a version counts -1.
 */
export function composeTableCounts(
  { packages, pixels, automated }: Scoped,
  { interval, measures }: { interval: Interval; measures: "all" | "all-from-sets" | "amounts" },
): string {
  const bucket = bucketSql(interval, "start");
  const ofPackages = OF_PACKAGES[automated];
  const ofPixels = OF_PIXELS[automated];
  const amounts = [
    ...(packages ? [amountsOf("downloads", { bucket, table: "totals", ...ofPackages })] : []),
    ...(pixels ? [amountsOf("views", { bucket, table: "events", ...ofPixels })] : []),
  ];
  if (measures === "amounts") return amounts.join("\nUNION ALL\n");
  const fromSets = packages && measures === "all-from-sets";
  const where = fromSets ? `${OF_RANGE} AND (package, date) IN (${staleDays(OF_RANGE)})` : OF_RANGE;
  const rows = [
    ...(packages ? [liveAddresses(`${bucket} AS day, address`, { where, amount: ofPackages.amount })] : []),
    ...(pixels ? [viewingAddresses(bucket, ofPixels)] : []),
  ].join("\nUNION ALL\n");
  const companies = [
    ...(packages ? [companiesOf({ ...COMPANIES_OF_PACKAGES, ...ofPackages })] : []),
    ...(pixels ? [companiesOf({ ...COMPANIES_OF_PIXELS, ...ofPixels })] : []),
  ];
  return [
    ...amounts,
    fromSets ? addressesFromSets(rows, { bucket, set: ofPackages.set }) : addressesFromRows(rows),
    `SELECT 'companies' AS measure, '' AS bucket, toInt64(count()) AS amount
FROM (${companies.join("\nUNION DISTINCT\n")})`,
  ].join("\nUNION ALL\n");
}

function addressesFromRows(rows: string): string {
  return `SELECT 'addresses' AS measure, counted.1 AS bucket, toInt64(counted.2) AS amount
FROM
(
  SELECT arrayJoin(arrayPushBack(groupArray((toString(day), finalizeAggregation(of_day))), ('', uniqExactMerge(of_day)))) AS counted
  FROM
  (
    SELECT day, uniqExactState(address) AS of_day
    FROM (${rows})
    GROUP BY day
  )
)`;
}

/** `rows` are of days without a set. An address without a number is in no set, and counted apart. */
function addressesFromSets(rows: string, { bucket, set }: { bucket: string; set: string }): string {
  return `SELECT 'addresses' AS measure, counted.1 AS bucket, toInt64(counted.2) AS amount
FROM
(
  SELECT arrayJoin(arrayPushBack(groupArrayIf((toString(day), of_day), of_day > 0),
    ('', bitmapCardinality(groupBitmapMergeState(numbered)) + uniqExactMerge(others)))) AS counted
  FROM
  (
    SELECT day, groupBitmapMergeState(numbers_of_day) AS numbered, uniqExactMergeState(others_of_day) AS others,
      bitmapCardinality(numbered) + finalizeAggregation(others) AS of_day
    FROM
    (
      SELECT ${bucket} AS day, ${set} AS numbers_of_day, arrayReduce('uniqExactState', emptyArrayUInt64()) AS others_of_day
      ${validSets(OF_RANGE)}
      UNION ALL
      SELECT day, groupBitmapStateIf(number, number > 0), uniqExactStateIf(address, number = 0)
      FROM (${rows}) AS stale
      ANY LEFT JOIN (SELECT address, number FROM address_numbers WHERE address IN (SELECT address FROM (${rows}))) AS numbered USING (address)
      GROUP BY day
    )
    GROUP BY day
  )
)`;
}

/**
 * Whether sets answer sooner than rows. An address without a set takes six times as long with them as without, and no day
 * has more addresses than downloads.
 */
export const READS_SETS = `SELECT (
  SELECT sum(downloads) FROM (${staleDays(OF_RANGE, "downloads")})
) * 6 <= sum(total) AS reads_sets
FROM totals
WHERE ${OF_RANGE}`;

interface Counted {
  table: "totals" | "breakdown_values" | "events";
  ofArtifacts: string;
  amount: string;
}

const OF_PACKAGES = {
  include: { ofArtifacts: "package IN (packages)", amount: "total", set: "addresses" },
  exclude: { ofArtifacts: "package IN (packages)", amount: "total - automated_total", set: "people" },
} as const;
const OF_PIXELS = {
  include: { ofArtifacts: "artifact IN (pixels)", amount: "sign" },
  exclude: { ofArtifacts: "artifact IN (pixels) AND automated = ''", amount: "sign" },
} as const;

function amountsOf(
  measure: string,
  { bucket, table, ofArtifacts, amount }: Counted & { bucket: string },
): string {
  return `SELECT '${measure}' AS measure, toString(${bucket}) AS bucket, sum(${amount}) AS amount
FROM ${table}
WHERE ${ofArtifacts} AND ${RANGE}
GROUP BY bucket`;
}

function viewingAddresses(
  bucket: string,
  { ofArtifacts, amount }: Pick<Counted, "ofArtifacts" | "amount">,
): string {
  return `SELECT ${bucket} AS day, ${ADDRESS} AS address
FROM events
WHERE ${ofArtifacts} AND ${RANGE} AND ${HAS_ADDRESS}
GROUP BY day, address
HAVING sum(${amount}) > 0`;
}

const COMPANIES_OF_PACKAGES = {
  table: "breakdown_values",
  columns: "value_1, value_2",
  where: "breakdown = 'company'",
} as const;
const COMPANIES_OF_PIXELS = {
  table: "events",
  columns: "company, company_domain",
  where: "company != ''",
} as const;

function companiesOf({
  table,
  columns,
  where,
  ofArtifacts,
  amount,
}: Counted & { columns: string; where: string }): string {
  return `SELECT ${columns}
FROM ${table}
WHERE ${ofArtifacts} AND ${RANGE} AND ${where}
GROUP BY ${columns}
HAVING sum(${amount}) > 0`;
}

/**
 * Which values had these lists, and how often? The first rows of each list, read in one pass. Takes `packages` and `pixels`
 * from the text in front and the parameters of `listConditions`. Undefined if nothing can be in them.
 */
export function composeTableLists(
  lists: readonly StatisticsList[],
  { packages, pixels, automated }: Scoped,
  { grouping, ...narrowing }: ListNarrowing & { grouping: Grouping },
): string | undefined {
  const counted = packages ? lists.filter(({ counts }) => counts === "downloads") : [];
  const viewed = pixels ? lists.filter(({ counts }) => counts === "views") : [];
  const parts = [
    ...(counted.length === 0 ? [] : [ofBreakdowns(counted, grouping)]),
    ...viewed.map(ofViews),
  ].map((rows) => `(${firstRows(rows, automated, narrowing)})`);
  return parts.length === 0 ? undefined : parts.join("\nUNION ALL\n");
}

interface ListedRows {
  lists: readonly StatisticsList[];
  /** SQL of the list's name and of its values. */
  columns: readonly [list: string, value1: string, value2: string];
  table: string;
  where: string;
  amounts: typeof OF_PACKAGES | typeof OF_PIXELS;
}

function ofBreakdowns(lists: readonly StatisticsList[], grouping: Grouping): ListedRows {
  const value = lists.reduce((sql, list) => {
    const ofList = valueSql("counted.value_1", list, grouping);
    return ofList === "counted.value_1"
      ? sql
      : `if(counted.breakdown = '${sqlName(list.name)}', ${ofList}, ${sql})`;
  }, "counted.value_1");
  return {
    lists,
    columns: ["counted.breakdown", value, "counted.value_2"],
    table: "breakdown_values",
    where: `breakdown IN (${lists.map(({ name }) => `'${sqlName(name)}'`).join(", ")})`,
    amounts: OF_PACKAGES,
  };
}

function ofViews(list: StatisticsList): ListedRows {
  const {
    name,
    values: [first, second],
  } = list;
  const column = sqlName(first.column);
  return {
    lists: [list],
    columns: [`'${sqlName(name)}'`, column, second === undefined ? "''" : sqlName(second.column)],
    table: "events",
    where: `kind = 'pixel' AND ${column} != ''`,
    amounts: OF_PIXELS,
  };
}

/** Types are spelled out, so that they do not depend on which lists stand beside these. */
function firstRows(
  { lists, columns: [list, value1, value2], table, where, amounts }: ListedRows,
  automated: Automation,
  narrowing: ListNarrowing,
): string {
  const { ofArtifacts, amount } = amounts[automated];
  const { searched, followed } = listConditions(narrowing);
  return `SELECT CAST(${list} AS String) AS list, CAST(${value1} AS String) AS value_1, CAST(${value2} AS String) AS value_2,
  sumIf(${amount}, ${RANGE}) AS amount, sumIf(${amount}, ${BEFORE}) AS before
FROM ${table} AS counted
WHERE ${ofArtifacts} AND ${where} AND ((${RANGE}) OR (${BEFORE}))
GROUP BY ${list}, ${value1}, ${value2}
HAVING amount > 0${searched}${followed}
${firstRowsSql(lists)}`;
}
