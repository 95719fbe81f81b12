import { VERSION_COLUMN } from "../../schemas/contracts/breakdowns.js";
import type { ClickHouse } from "../../schemas/shards.js";
import { ADDRESS, HAS_ADDRESS } from "./compose-from-events.js";
import { openLiveRows } from "./live-rows.js";
import { rowsOf } from "./run-statement.js";
import type { StatisticsQuery } from "./statistics-query.js";
import { groupsSql, schemeOf } from "./group-version.js";

export interface VersionUse {
  downloads: number;
  addresses: number;
  companies: number;
}

/**
 * How often, from how many addresses and by how many companies were these versions and groups of versions downloaded?
 * Those without downloads are left out. An address or company that only overridden versions of events had does not count.
 */
export async function readVersionUse(
  clickhouse: ClickHouse,
  { versions, ...query }: StatisticsQuery & { versions: readonly string[] },
): Promise<Map<string, VersionUse>> {
  const live = await openLiveRows(query);
  const names = `arrayJoin(arrayIntersect(${groupsSql(VERSION_COLUMN, schemeOf(query.libraryTypes))}, {versions:Array(String)}))`;
  const text = `SELECT version, sum(downloads) AS downloads, sum(addresses) AS addresses, sum(companies) AS companies
FROM
(
  SELECT ${names} AS version, sum(sign) AS downloads, 0 AS addresses, 0 AS companies
  FROM (${live.rows([VERSION_COLUMN])})
  GROUP BY version
  UNION ALL
  SELECT version, 0, count(), 0
  FROM
  (
    SELECT ${names} AS version
    FROM (${live.rows([VERSION_COLUMN, "endpoint_id"], [HAS_ADDRESS])})
    GROUP BY version, ${ADDRESS}
    HAVING sum(sign) > 0
  )
  GROUP BY version
  UNION ALL
  SELECT version, 0, 0, count()
  FROM
  (
    SELECT ${names} AS version
    FROM (${live.rows([VERSION_COLUMN, "company", "company_domain"], ["company != ''"])})
    GROUP BY version, company, company_domain
    HAVING sum(sign) > 0
  )
  GROUP BY version
)
GROUP BY version`;
  const params = { ...live.params, versions };
  const rows = await rowsOf<VersionUse & { version: string }>(clickhouse, query, { query: text, params });
  return new Map(rows.map(({ version, ...use }) => [version, use]));
}
