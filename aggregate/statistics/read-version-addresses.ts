import { OTHER_VERSIONS } from "../../schemas/contracts/adoption.js";
import { VERSION_COLUMN } from "../../schemas/contracts/breakdowns.js";
import type { Automation, VersionGrouping } from "../../schemas/contracts/statistics.js";
import type { ClickHouse } from "../../schemas/shards.js";
import type { PackageDate } from "../queries/sql-literals.js";
import { daysWithSets, IS_KEPT, STALE_SHARE } from "../queries/valid-sets.js";
import { ADDRESS, HAS_ADDRESS } from "./compose-from-events.js";
import { OF_RANGE } from "./compose-from-tables.js";
import type { Live } from "./live-rows.js";
import { rowsOf } from "./run-statement.js";
import type { StatisticsQuery } from "./statistics-query.js";
import { groupingOf, groupSql } from "./group-version.js";

export interface VersionAddressesQuery extends StatisticsQuery {
  /** One package. */
  packages: readonly [string];
  versions: VersionGrouping;
  live: Live;
  /** Versions, or groups of them. */
  named: readonly string[];
}

/**
 * From how many addresses was each of these versions downloaded, and from how many were all others, under `other`? A version
 * without any is left out. Days whose events are gone count nothing. Where nothing is filtered, unsettled or being erased, sets
 * answer in a third of the time.
 */
export async function readVersionAddresses(
  clickhouse: ClickHouse,
  query: VersionAddressesQuery,
): Promise<ReadonlyMap<string, number>> {
  const params = { ...query.live.params, versions: query.named };
  const rows =
    (await readFromSets(clickhouse, query, params)) ??
    (await rowsOf<AddressesRow>(clickhouse, query, { query: composeFromEvents(query), params }));
  return new Map(rows.map(({ name, addresses }) => [name, addresses]));
}

/** Undefined where sets do not hold, or would take longer. A day may lose its set between the two statements. */
async function readFromSets(
  clickhouse: ClickHouse,
  query: VersionAddressesQuery,
  params: Record<string, unknown>,
): Promise<AddressesRow[] | undefined> {
  const { imports, erasures = [] } = query.unsettled;
  if (query.filters.length + imports.length + erasures.length > 0) return undefined;
  const [found] = await rowsOf<FoundRow>(clickhouse, query, { query: FIND_STALE });
  if (found?.reads_sets !== 1) return undefined;
  const { stale } = found;
  const text = composeFromSets(query, stale.length > 0);
  const rows = await rowsOf<SetsRow>(clickhouse, { ...query, stale }, { query: text, params });
  return rows.some(({ missing }) => missing > 0) ? undefined : rows.filter(({ addresses }) => addresses > 0);
}

interface FoundRow {
  stale: PackageDate[];
  reads_sets: 0 | 1;
}

interface AddressesRow {
  name: string;
  addresses: number;
}

interface SetsRow extends AddressesRow {
  /** How many days had neither sets by version nor a place in `stale`. */
  missing: number;
}

/** At most 366 days of one package. */
const DAYS = `${OF_RANGE} AND ${IS_KEPT}`;
const HAS_NO_SETS = "(fingerprint != 0 AND empty(held))";

const FIND_STALE = `SELECT groupArrayIf((toString(package), toString(date)), ${HAS_NO_SETS}) AS stale,
  sumIf(amount, ${HAS_NO_SETS}) * ${STALE_SHARE} <= sum(amount) AS reads_sets
FROM (${daysWithSets(DAYS, { amount: "total", set: "versions" })})`;

/** SQL: the versions of a day, each with its set. */
const SETS: Readonly<Record<Automation, string>> = {
  include: "arrayZip(versions, version_addresses)",
  exclude:
    "arrayMap((version, all, robots) -> (version, bitmapAndnot(all, robots)), versions, version_addresses, version_robots)",
};

/** Takes the days of `stale` from events. An address of theirs without a number is in no set, and counted apart. */
function composeFromSets(query: VersionAddressesQuery, hasStale: boolean): string {
  const ofSets = `SELECT ${placeOf("of_version.1", query)} AS place, groupBitmapMergeState(of_version.2) AS numbered,
    arrayReduce('uniqExactState', emptyArrayUInt64()) AS others,
    countIf(${HAS_NO_SETS} AND (package, date) NOT IN (stale)) AS missing
  FROM (${daysWithSets(DAYS, { amount: "total", set: SETS[query.automated] })})
  LEFT ARRAY JOIN held AS of_version
  GROUP BY place`;
  const rows = placedAddresses(query, ["(artifact, date) IN (stale)"]);
  const ofRows = `SELECT place, groupBitmapStateIf(number, number > 0), uniqExactStateIf(address, number = 0), 0 AS missing
  FROM (${rows}) AS unset
  ANY LEFT JOIN
  (
    SELECT address, number FROM address_numbers WHERE address IN (SELECT address FROM (${rows}))
  ) AS numbers USING (address)
  GROUP BY place`;
  return `SELECT ${nameOf("place")} AS name, groupBitmapMerge(numbered) + uniqExactMerge(others) AS addresses, sum(missing) AS missing
FROM
(
  ${hasStale ? `${ofSets}\n  UNION ALL\n  ${ofRows}` : ofSets}
)
GROUP BY place`;
}

function composeFromEvents(query: VersionAddressesQuery): string {
  return `SELECT ${nameOf("place")} AS name, count() AS addresses
FROM (${placedAddresses(query)})
GROUP BY place`;
}

/** One hash of 64 bits stands for an address and its version: to group by two keys takes twice as long. */
function placedAddresses(query: VersionAddressesQuery, conditions: readonly string[] = []): string {
  return `SELECT any(${placeOf(VERSION_COLUMN, query)} AS version_place) AS place, any(${ADDRESS} AS version_address) AS address
  FROM (${query.live.rows([VERSION_COLUMN, "endpoint_id"], [HAS_ADDRESS, ...conditions])})
  GROUP BY cityHash64(version_address, version_place)
  HAVING sum(sign) > 0`;
}

const NAMES = `arrayConcat(['${OTHER_VERSIONS}'], {versions:Array(String)})`;

function nameOf(place: string): string {
  return `${NAMES}[${place} + 1]`;
}

/** Versions have numbers here, 0 for all others: to group by texts takes twice as long. */
function placeOf(version: string, query: VersionAddressesQuery): string {
  const grouped = `toString(${groupSql(version, groupingOf(query))})`;
  return `toUInt8(transform(${grouped}, ${NAMES}, range(length(${NAMES})), toUInt64(0)))`;
}
