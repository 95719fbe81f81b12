import type { ClickHouse } from "../../schemas/shards.js";
import { rowsOf } from "./run-statement.js";
import type { StatisticsQuery } from "./statistics-query.js";

/** The downloads of one package on one day. Days without any are left out. */
export interface PackageDay {
  /** UUID. */
  package: string;
  /** `YYYY-MM-DD`. */
  date: string;
  downloads: number;
}

/** How often was each package downloaded on each day? Settlement has moved overrides in the table that this reads. */
export function readPackageDays(
  clickhouse: ClickHouse,
  query: Pick<StatisticsQuery, "packages" | "range" | "signal">,
): Promise<PackageDay[]> {
  return rowsOf<PackageDay>(clickhouse, { ...query, pixels: [] }, { query: PACKAGE_DAYS });
}

const PACKAGE_DAYS = `SELECT package, date, toInt64(sum(total)) AS downloads
FROM totals
WHERE package IN (packages) AND date >= {start:Date} AND date < {end:Date}
GROUP BY package, date
HAVING downloads > 0`;
