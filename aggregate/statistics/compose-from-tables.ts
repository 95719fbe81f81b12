import type { Automation, Interval } from "../../schemas/contracts/statistics.js";
import { liveAddresses } from "../queries/live-addresses.js";
import { daysWithSets, IS_STALE, STALE_SHARE } from "../queries/valid-sets.js";
import { ADDRESS, bucketOf, HAS_ADDRESS, IS_COMPARED, IS_NOW } from "./compose-from-events.js";
import type { Compares } from "./statistics-query.js";

export const RANGE = IS_NOW;
/** The first days of the range, which are compared. */
export const COMPARED = `${RANGE} AND ${IS_COMPARED}`;
export const BEFORE = "date >= {beforeStart:Date} AND date < {beforeEnd:Date}";
export const BOTH_RANGES = `(${RANGE} OR ${BEFORE})`;

/** Which of the artifacts are counted beside packages. */
export interface Scoped {
  pixels: boolean;
  automated: Automation;
}

/**
 * Where the counts come from. `amounts` leaves addresses and companies out. Companies of packages alone are not counted:
 * their list says how many there are. `from-sets` reads rows of the addresses of no package, and `from-sets-and-rows` those of
 * the days of `stale`. Both count the addresses of the buckets of the parameter `known` together.
 */
export type Measures = "amounts" | "from-rows" | "from-sets" | "from-sets-and-rows";

/** A count of a part of the ranges; of all its buckets where the bucket is empty, and of those of `known` where it is null. */
export interface CountRow {
  measure: "downloads" | "views" | "addresses" | "companies" | "missing";
  /** `compared` is the first days of the range. Empty for days that are compared with nothing. */
  part: "now" | "compared" | "before" | "";
  bucket: string | null;
  amount: number;
  /** Decimal digits that stand for the packages, days and addresses that were counted. Empty where some come from rows. */
  contents: string;
}

export interface CountsOptions {
  interval: Interval;
  measures: Measures;
  compares: Compares;
}

/**
 * What happened in both ranges, and in each of their buckets? Rows of `CountRow`. Takes `packages`, `pixels` and `stale` from
 * the text in front, and the first days of buckets as the parameter `known`. Settlement has moved overrides in these tables.
 * Pixels have none: their events are added up, and the row by which settlement removes a version counts -1.
 */
export function composeTableCounts(
  { pixels, automated }: Scoped,
  { interval, measures, compares }: CountsOptions,
): string {
  const day = bucketKeys(bucketOf(interval));
  const unknownDay = bucketKeys(
    `if(${bucketOf(interval)} IN {known:Array(Date)}, NULL, ${bucketOf(interval)})`,
  );
  const byParts = (rows: string, counts: Readonly<Record<string, string>>, contents?: string) =>
    countsByParts(rows, { counts, contents, compares });
  const ofPackages = OF_PACKAGES[automated];
  const ofPixels = OF_PIXELS[automated];
  const downloads = byParts(amountsOf({ day, table: "totals", ...ofPackages }), { downloads: "sum(amount)" });
  const views = pixels
    ? [byParts(amountsOf({ day, table: "events", ...ofPixels }), { views: "sum(amount)" })]
    : [];
  if (measures === "amounts") return [downloads, ...views].join(ALL);
  const { amount } = ofPackages;
  const where = measures === "from-rows" ? OF_BOTH : STALE;
  const rows = [
    ...(measures === "from-sets" ? [] : [liveAddresses(`${unknownDay}, address`, { where, amount })]),
    ...(pixels ? [viewingAddresses(unknownDay, ofPixels)] : []),
  ].join(ALL);
  const addresses =
    measures === "from-rows"
      ? byParts(addressesOfRows(rows), { addresses: "uniqExactMerge(others)" })
      : byParts(
          addressesOfSets({ day: unknownDay, days: daysWithSets(OF_BOTH, ofPackages), rows }),
          { addresses: "groupBitmapMerge(numbered) + uniqExactMerge(others)", missing: "sum(missing)" },
          "if(max(has_rows) = 0, toString(sum(contents)), '')",
        );
  return [downloads, addresses, ...views, ...(pixels ? [countCompanies(automated)] : [])].join(ALL);
}

const ALL = "\nUNION ALL\n";
export const OF_RANGE = `package IN (packages) AND ${RANGE}`;
const OF_BOTH = `package IN (packages) AND ${BOTH_RANGES}`;
const STALE = `${OF_BOTH} AND (package, date) IN (stale)`;

/** The keys of `countsByParts`. */
function bucketKeys(bucket: string): string {
  return `${RANGE} AS is_now, ${IS_COMPARED} AS is_compared, ${bucket} AS day`;
}
const OF_DAY = "is_now, is_compared, day";

/** These counts of rows with the columns of `bucketKeys`: of each bucket, and of each range or its part. */
function countsByParts(
  rows: string,
  {
    counts,
    contents = "''",
    compares,
  }: { counts: Readonly<Record<string, string>>; contents?: string | undefined; compares: Compares },
): string {
  const range = "if(is_now, 'now', 'before')";
  const ofPart = "if(is_now AND is_compared, 'compared', '')";
  const part = compares === "part" ? `if(grouping(is_compared) = 0, ${ofPart}, ${range})` : range;
  const amounts = Object.entries(counts).map(([measure, sql]) => `('${measure}', toInt64(${sql}))`);
  const sets = ["is_now, day", "is_now", ...(compares === "part" ? ["is_now, is_compared"] : [])];
  return `SELECT counted.1 AS measure, part, bucket, counted.2 AS amount, contents
FROM
(
  SELECT ${part} AS part, if(grouping(day) = 1, '', toString(day)) AS bucket,
    [${amounts.join(", ")}] AS counts, ${contents} AS contents
  FROM (${rows})
  GROUP BY GROUPING SETS (${sets.map((set) => `(${set})`).join(", ")})
)
ARRAY JOIN counts AS counted`;
}

function addressesOfRows(rows: string): string {
  return `SELECT ${OF_DAY}, uniqExactState(address) AS others
FROM (${rows})
GROUP BY ${OF_DAY}`;
}

/**
 * `missing` is how many days had neither a set nor a place in `stale`: the answer holds where it is nothing. `rows` may be
 * empty. An address of theirs without a number is in no set, and counted apart.
 */
function addressesOfSets({ day, days, rows }: { day: string; days: string; rows: string }): string {
  const ofSets = `SELECT ${day}, groupBitmapMergeState(held) AS numbered,
  arrayReduce('uniqExactState', emptyArrayUInt64()) AS others, ${CONTENTS} AS contents,
  max(${IS_STALE}) AS has_rows, countIf(${IS_STALE} AND (package, date) NOT IN (stale)) AS missing
FROM (${days})
GROUP BY ${OF_DAY}`;
  if (rows === "") return ofSets;
  return `${ofSets}
UNION ALL
SELECT ${OF_DAY}, groupBitmapStateIf(number, number > 0), uniqExactStateIf(address, number = 0), 0 AS contents,
  1 AS has_rows, 0 AS missing
FROM (${rows}) AS unset
ANY LEFT JOIN (SELECT address, number FROM address_numbers WHERE address IN (SELECT address FROM (${rows}))) AS numbers USING (address)
GROUP BY ${OF_DAY}`;
}

/** Stands for some packages and days, with their addresses. Sums wrap at 2^64. */
const CONTENTS = "sum(sipHash64(package, date, fingerprint))";

/** So many stand in the text of a statement. */
const STALE_MAX = 5_000;

/**
 * Which days of both ranges have no set? Do sets answer sooner than rows nevertheless? What is in each bucket that has sets alone
 * (`is_now`, `bucket`, `contents`)? No day has more addresses than downloads.
 */
export function composeContents(interval: Interval): string {
  return `SELECT groupArrayArray(${STALE_MAX + 1})(stale_days) AS stale,
  length(stale) <= ${STALE_MAX} AND sum(stale_amount) * ${STALE_SHARE} <= sum(all_amount) AS reads_sets,
  groupArrayIf((is_now, toString(day), toString(contents)), empty(stale_days)) AS buckets
FROM
(
  SELECT ${RANGE} AS is_now, ${bucketOf(interval)} AS day, ${CONTENTS} AS contents,
    groupArrayIf(${STALE_MAX + 1})((toString(package), toString(date)), ${IS_STALE}) AS stale_days,
    sumIf(amount, ${IS_STALE}) AS stale_amount, sum(amount) AS all_amount
  FROM (${daysWithSets(OF_BOTH, { amount: "total", set: "addresses" })})
  GROUP BY is_now, day
)`;
}

interface Counted {
  table: "totals" | "breakdown_values" | "events";
  ofArtifacts: string;
  amount: string;
}

export const OF_PACKAGES = {
  include: { ofArtifacts: "package IN (packages)", amount: "total", set: "addresses" },
  exclude: { ofArtifacts: "package IN (packages)", amount: "total - automated_total", set: "people" },
} as const;
export const OF_PIXELS = {
  include: { ofArtifacts: "artifact IN (pixels)", amount: "sign" },
  exclude: { ofArtifacts: "artifact IN (pixels) AND automated = ''", amount: "sign" },
} as const;

function amountsOf({ day, table, ofArtifacts, amount }: Counted & { day: string }): string {
  return `SELECT ${day}, ${amount} AS amount
FROM ${table}
WHERE ${ofArtifacts} AND ${BOTH_RANGES}`;
}

function viewingAddresses(
  day: string,
  { ofArtifacts, amount }: Pick<Counted, "ofArtifacts" | "amount">,
): string {
  return `SELECT ${day}, ${ADDRESS} AS address
FROM events
WHERE ${ofArtifacts} AND ${BOTH_RANGES} AND ${HAS_ADDRESS}
GROUP BY ${OF_DAY}, address
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

/** Each company, and the parts in which something of it is left. */
function companiesOf({
  table,
  columns,
  where,
  ofArtifacts,
  amount,
}: Counted & { columns: string; where: string }): string {
  const isIn = (part: string) => `sumIf(${amount}, ${part}) > 0`;
  return `SELECT (${columns}) AS pair, ${isIn(RANGE)} AS is_now, ${isIn(COMPARED)} AS is_compared, ${isIn(BEFORE)} AS is_before
FROM ${table}
WHERE ${ofArtifacts} AND ${BOTH_RANGES} AND ${where}
GROUP BY ${columns}`;
}

/** Of packages and pixels together. */
function countCompanies(automated: Automation): string {
  const companies = [
    companiesOf({ ...COMPANIES_OF_PACKAGES, ...OF_PACKAGES[automated] }),
    companiesOf({ ...COMPANIES_OF_PIXELS, ...OF_PIXELS[automated] }),
  ];
  const distinct = (part: string) => `('${part}', toInt64(uniqExactIf(pair, is_${part})))`;
  return `SELECT 'companies' AS measure, counted.1 AS part, '' AS bucket, counted.2 AS amount, '' AS contents
FROM (SELECT [${["now", "compared", "before"].map(distinct).join(", ")}] AS counts FROM (${companies.join(ALL)}))
ARRAY JOIN counts AS counted`;
}
