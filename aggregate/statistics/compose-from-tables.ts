import type { StatisticsList } from "../../schemas/contracts/breakdowns.js";
import type { Automation, Interval } from "../../schemas/contracts/statistics.js";
import { liveAddresses } from "../queries/live-addresses.js";
import { daysWithSets, IS_STALE } from "../queries/valid-sets.js";
import { sqlName } from "../queries/sql-literals.js";
import { bucketSql } from "./buckets.js";
import { ADDRESS, HAS_ADDRESS } from "./compose-from-events.js";
import { firstRowsSql, listConditions, valueSql, type ListNarrowing } from "./statistics-lists.js";
import type { Grouping } from "../versions/group-version.js";

const RANGE = "date >= {start:Date} AND date < {end:Date}";
/** The first days of the range, which are compared. */
const COMPARED = "date >= {start:Date} AND date < {comparedEnd:Date}";
const BEFORE = "date >= {beforeStart:Date} AND date < {beforeEnd:Date}";

/** Which of the artifacts are counted beside packages. */
export interface Scoped {
  pixels: boolean;
  automated: Automation;
}

/**
 * Where the counts come from. `amounts` leaves addresses and companies out. `from-sets` reads rows of the addresses of no
 * package, and `from-sets-and-rows` those of the days of `stale`.
 */
export type Measures = "amounts" | "from-rows" | "from-sets" | "from-sets-and-rows";

/**
 * What happened in a range, and in each of its buckets? The bucket is empty for the whole range. Takes `packages`, `pixels`
 * and `stale` from the text in front. Settlement has moved overrides in these tables. Pixels have none: their events are
 * added up, and the row by which settlement removes a version counts -1.
 */
export function composeTableCounts(
  { pixels, automated }: Scoped,
  { interval, measures }: { interval: Interval; measures: Measures },
): string {
  const bucket = bucketSql(interval, "start");
  const ofPackages = OF_PACKAGES[automated];
  const ofPixels = OF_PIXELS[automated];
  const downloads = amountsOf("downloads", { bucket, table: "totals", ...ofPackages });
  const views = pixels ? [amountsOf("views", { bucket, table: "events", ...ofPixels })] : [];
  if (measures === "amounts") return [downloads, ...views].join(ALL);
  const { amount } = ofPackages;
  const where = measures === "from-rows" ? OF_RANGE : STALE;
  const rows = [
    ...(measures === "from-sets" ? [] : [liveAddresses(`${bucket} AS day, address`, { where, amount })]),
    ...(pixels ? [viewingAddresses(bucket, ofPixels)] : []),
  ].join(ALL);
  const companies = [
    companiesOf({ ...COMPANIES_OF_PACKAGES, ...ofPackages }),
    ...(pixels ? [companiesOf({ ...COMPANIES_OF_PIXELS, ...ofPixels })] : []),
  ];
  return [
    ...(measures === "from-rows"
      ? [downloads, addressesFromRows(rows)]
      : [countsFromSets({ bucket, days: daysWithSets(OF_RANGE, ofPackages), rows })]),
    ...views,
    `SELECT 'companies' AS measure, '' AS bucket, toInt64(count()) AS amount
FROM (${companies.join("\nUNION DISTINCT\n")})`,
  ].join(ALL);
}

const ALL = "\nUNION ALL\n";
export const OF_RANGE = `package IN (packages) AND ${RANGE}`;
const STALE = `${OF_RANGE} AND (package, date) IN (stale)`;
const BUCKET_OR_ALL = "if(grouping(day) = 1, '', toString(day)) AS bucket";

function addressesFromRows(rows: string): string {
  return `SELECT 'addresses' AS measure, ${BUCKET_OR_ALL}, toInt64(uniqExact(address)) AS amount
FROM (${rows})
GROUP BY day WITH ROLLUP`;
}

/**
 * Downloads and addresses. `missing` is how many days had neither a set nor a place in `stale`: the answer holds where it
 * is nothing. `rows` may be empty. An address of theirs without a number is in no set, and counted apart.
 */
function countsFromSets({ bucket, days, rows }: { bucket: string; days: string; rows: string }): string {
  const ofSets = `SELECT ${bucket} AS day, amount, held AS numbered, arrayReduce('uniqExactState', emptyArrayUInt64()) AS others,
      ${IS_STALE} AND (package, date) NOT IN (stale) AS is_missing
    FROM (${days})`;
  const ofRows = `SELECT day, 0 AS amount, groupBitmapStateIf(number, number > 0), uniqExactStateIf(address, number = 0), 0 AS is_missing
    FROM (${rows}) AS unset
    ANY LEFT JOIN (SELECT address, number FROM address_numbers WHERE address IN (SELECT address FROM (${rows}))) AS numbers USING (address)
    GROUP BY day`;
  return `SELECT counted.1 AS measure, bucket, counted.2 AS amount
FROM
(
  SELECT ${BUCKET_OR_ALL}, [
    ('downloads', sum(amount)),
    ('addresses', toInt64(groupBitmapMerge(numbered) + uniqExactMerge(others))),
    ('missing', toInt64(countIf(is_missing)))
  ] AS counts
  FROM
  (
    ${rows === "" ? ofSets : ofSets + ALL + ofRows}
  )
  GROUP BY day WITH ROLLUP
)
ARRAY JOIN counts AS counted`;
}

/** So many stand in the text of a statement. */
const STALE_MAX = 5_000;

/**
 * Which days have no set, and do sets answer sooner than rows nevertheless? An address without a set takes six times as
 * long with them as without, and no day has more addresses than downloads.
 */
export const STALE_DAYS = `SELECT groupArrayIf(${STALE_MAX + 1})((toString(package), toString(date)), ${IS_STALE}) AS stale,
  length(stale) <= ${STALE_MAX} AND sumIf(amount, ${IS_STALE}) * 6 <= sum(amount) AS reads_sets
FROM (${daysWithSets(OF_RANGE, { amount: "total", set: "addresses" })})`;

interface Counted {
  table: "totals" | "breakdown_values" | "events";
  ofArtifacts: string;
  amount: string;
}

export const OF_PACKAGES = {
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
  { pixels, automated }: Scoped,
  { grouping, ...narrowing }: ListNarrowing & { grouping: Grouping },
): string | undefined {
  const counted = lists.filter(({ counts }) => counts === "downloads");
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
  sumIf(${amount}, ${RANGE}) AS amount, sumIf(${amount}, ${COMPARED}) AS compared, sumIf(${amount}, ${BEFORE}) AS before
FROM ${table} AS counted
WHERE ${ofArtifacts} AND ${where} AND ((${RANGE}) OR (${BEFORE}))
GROUP BY ${list}, ${value1}, ${value2}
HAVING amount > 0${searched}${followed}
${firstRowsSql(lists)}`;
}
