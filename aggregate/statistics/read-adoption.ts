import { ADOPTION_VERSIONS_MAX, OTHER_VERSIONS } from "../../schemas/contracts/adoption.js";
import { STATISTICS_LISTS, VERSION_COLUMN } from "../../schemas/contracts/breakdowns.js";
import type { Interval, VersionGrouping } from "../../schemas/contracts/statistics.js";
import type { ClickHouse } from "../../schemas/shards.js";
import { bucketSql } from "./buckets.js";
import { OF_PACKAGES, OF_RANGE } from "./compose-from-tables.js";
import { openLiveRows, type Live } from "./live-rows.js";
import { readList } from "./read-statistics.js";
import { rowsOf } from "./run-statement.js";
import type { StatisticsQuery } from "./statistics-query.js";
import { groupingOf, groupSql, storedVersion } from "./group-version.js";
import { readVersionAddresses } from "./read-version-addresses.js";

export interface AdoptionQuery extends Omit<StatisticsQuery, "before"> {
  /** One package. */
  packages: readonly [string];
  interval: Interval;
  versions: VersionGrouping;
}

export interface AdoptionRead {
  /** Those with most downloads, the most downloaded first. */
  versions: readonly string[];
  /** By version; that of all others is `other`. */
  addresses: ReadonlyMap<string, number>;
  /** Days, by version. */
  firstSeen: ReadonlyMap<string, string>;
  /** Downloads by the first days of buckets, and by version; of all versions together under an empty text. */
  buckets: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

/** How many downloads had each version? Rejects when ClickHouse or the signal ends it. */
export async function readAdoption(clickhouse: ClickHouse, query: AdoptionQuery): Promise<AdoptionRead> {
  const lists = STATISTICS_LISTS.filter(({ isOfVersions }) => isOfVersions === true);
  // One more, because a version may be called `other`.
  const { rows } = await readList(clickhouse, { ...query, lists, limit: ADOPTION_VERSIONS_MAX + 1 });
  const versions = rows
    .flatMap(({ values: [version = ""] }) => (version === OTHER_VERSIONS ? [] : [version]))
    .slice(0, ADOPTION_VERSIONS_MAX);
  const live = await openLiveRows(query);
  const statements = {
    downloads: query.filters.length === 0 ? downloadsOfTables(query) : downloadsOfEvents(live, query),
    firstSeen: firstSeenOf(query),
  };
  const params = { ...live.params, versions };
  const read = <Row>(text: string) => rowsOf<Row>(clickhouse, query, { query: text, params });
  const [downloads, addresses, firstSeen] = await Promise.all([
    read<DownloadsRow>(statements.downloads),
    readVersionAddresses(clickhouse, { ...query, live, named: versions }),
    read<{ version: string; day: string }>(statements.firstSeen),
  ]);
  return {
    versions,
    addresses,
    firstSeen: new Map(firstSeen.map((row) => [row.version, row.day])),
    buckets: bucketsOf(downloads),
  };
}

interface DownloadsRow {
  bucket: string;
  version: string;
  downloads: number;
}

function bucketsOf(rows: readonly DownloadsRow[]): Map<string, Map<string, number>> {
  const buckets = new Map<string, Map<string, number>>();
  for (const { bucket, version, downloads } of rows) {
    const counts = buckets.get(bucket) ?? new Map<string, number>();
    buckets.set(bucket, counts.set(version, downloads));
  }
  return buckets;
}

const IS_NAMED = "version IN {versions:Array(String)}";

/** How often was the package downloaded in each bucket, and with each of the versions? Settlement has moved overrides. */
function downloadsOfTables({ interval, automated, ...query }: AdoptionQuery): string {
  const bucket = bucketSql(interval, "start");
  const { amount } = OF_PACKAGES[automated];
  return `SELECT toString(${bucket}) AS bucket, '' AS version, sum(${amount}) AS downloads
FROM totals
WHERE ${OF_RANGE}
GROUP BY bucket
UNION ALL
SELECT toString(${bucket}) AS bucket, ${groupSql(storedVersion("value_1"), groupingOf(query))} AS version, sum(${amount}) AS downloads
FROM breakdown_values
WHERE ${OF_RANGE} AND breakdown = 'version' AND ${IS_NAMED}
GROUP BY bucket, version`;
}

/** The same of the events that filters keep. */
function downloadsOfEvents(live: Live, { interval, ...query }: AdoptionQuery): string {
  const version = `toString(${groupSql(VERSION_COLUMN, groupingOf(query))})`;
  return `SELECT toString(${bucketSql(interval, "start")}) AS bucket, version, sum(sign) AS downloads
FROM (${live.rows(["date", VERSION_COLUMN])})
ARRAY JOIN arrayDistinct(['', ${version}]) AS version
WHERE version = '' OR ${IS_NAMED}
GROUP BY bucket, version`;
}

/** On which day was each of the versions downloaded first, whatever the range and the filters? */
function firstSeenOf(query: AdoptionQuery): string {
  return `SELECT version, toString(min(date)) AS day
FROM
(
  SELECT ${groupSql(storedVersion("value_1"), groupingOf(query))} AS version, date
  FROM breakdown_values
  WHERE package IN (packages) AND breakdown = 'version' AND ${IS_NAMED}
  GROUP BY version, date
  HAVING sum(total) > 0
)
GROUP BY version`;
}
