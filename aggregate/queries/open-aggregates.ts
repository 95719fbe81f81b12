import type { Breakdown, ExportFormat } from "../../schemas/contracts/aggregate.js";
import type { DateRange } from "../../schemas/date-range.js";
import { composeAggregates } from "./compose-aggregates.js";
import { FORMAT_SETTINGS } from "./format-rows.js";
import type { NamedId } from "./names-sql.js";
import { openRows, type ResultSource, type Rows } from "./open-rows.js";
import { storableRange } from "./storable-range.js";

export interface AggregatesQuery extends DateRange {
  packages: readonly NamedId[];
  breakdowns: readonly Breakdown[];
  format?: ExportFormat;
  /** Whether lines of NDJSON have the package's name; rows of the other formats always have it. */
  named?: boolean;
  signal: AbortSignal;
  /** Compressed by ClickHouse. */
  zstd?: boolean;
}

/** The statement has the id and name of every package. */
const QUERY_BYTES_MAX = "67108864";

/** AggregateV1, ordered by package, date, breakdown and value; see `openRows` for how it fails. */
export async function openAggregates(
  clickhouse: ResultSource,
  { packages, breakdowns, format = "ndjson", named = false, signal, zstd, ...range }: AggregatesQuery,
): Promise<Rows> {
  const query = composeAggregates({ packages, breakdowns, format, named });
  return openRows(clickhouse, {
    query,
    params: storableRange(range),
    signal,
    settings: { ...FORMAT_SETTINGS, max_query_size: QUERY_BYTES_MAX },
    zstd,
  });
}
