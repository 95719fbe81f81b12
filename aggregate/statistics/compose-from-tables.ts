import type { StatisticsList } from "../../schemas/contracts/breakdowns.js";
import type { Automation, Interval } from "../../schemas/contracts/statistics.js";
import { liveAddresses } from "../queries/live-addresses.js";
import { staleDays, validSets } from "../queries/valid-sets.js";
import { sqlName } from "../queries/sql-literals.js";
import { bucketSql } from "./buckets.js";
import { ADDRESS, HAS_ADDRESS } from "./compose-from-events.js";
import { listConditions, type ListNarrowing } from "./statistics-lists.js";

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
    ...(packages ? [companiesOf({ table: "companies", ...ofPackages })] : []),
    ...(pixels ? [companiesOf({ table: "events", ...ofPixels })] : []),
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
  table: "totals" | "companies" | "events";
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

function companiesOf({ table, ofArtifacts, amount }: Counted): string {
  return `SELECT company, company_domain
FROM ${table}
WHERE ${ofArtifacts} AND ${RANGE}${table === "events" ? " AND company != ''" : ""}
GROUP BY company, company_domain
HAVING sum(${amount}) > 0`;
}

/**
 * Which values had these lists, and how often? The first rows of each list. Takes `packages` and `pixels`
 * from the text in front and the parameters of `listConditions`. Undefined if nothing can be in them.
 */
export function composeTableLists(
  lists: readonly StatisticsList[],
  { packages, pixels, automated }: Scoped,
  narrowing: ListNarrowing,
): string | undefined {
  const parts = lists
    .filter(({ counts }) => (counts === "downloads" ? packages : pixels))
    .map((list) => `(${countList(list, automated, narrowing)})`);
  return parts.length === 0 ? undefined : parts.join("\nUNION ALL\n");
}

function countList(
  { name, table, values }: StatisticsList,
  automated: Automation,
  narrowing: ListNarrowing,
): string {
  const columns = values.map(({ column }) => sqlName(column));
  const [first = "", second] = columns;
  const isOfPixels = table === undefined;
  const { ofArtifacts, amount } = (isOfPixels ? OF_PIXELS : OF_PACKAGES)[automated];
  const { searched, followed } = listConditions(narrowing);
  // Types are spelled out, so that they do not depend on which lists stand beside this one.
  return `SELECT '${sqlName(name)}' AS list, CAST(${first} AS String) AS value_1, CAST(${second ?? "''"} AS String) AS value_2,
  sumIf(${amount}, ${RANGE}) AS amount, sumIf(${amount}, ${BEFORE}) AS before
FROM ${isOfPixels ? "events" : sqlName(table)}
WHERE ${ofArtifacts}${isOfPixels ? ` AND kind = 'pixel' AND ${first} != ''` : ""} AND ((${RANGE}) OR (${BEFORE}))
GROUP BY value_1, value_2
HAVING amount > 0${searched}${followed}
ORDER BY amount DESC, value_1, value_2
LIMIT {limit:UInt32}`;
}
