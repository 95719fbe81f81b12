import type { Breakdown } from "../../schemas/contracts/aggregate.js";
import type { ExportFormat } from "../../schemas/contracts/export-format.js";
import type { DateRange } from "../../schemas/date-range.js";
import { composeAggregates } from "./compose-aggregates.js";
import { FORMAT_SETTINGS } from "./format-rows.js";
import { openRows, type ResultSource, type Rows } from "./open-rows.js";
import { storableRange } from "./storable-range.js";

export interface AggregatesQuery extends DateRange {
  /** UUIDs. */
  packages: readonly string[];
  breakdowns: readonly Breakdown[];
  format?: ExportFormat;
  signal: AbortSignal;
  /** Compressed by ClickHouse. */
  zstd?: boolean;
}

/** AggregateV1, ordered by package, date, breakdown and value; see `openRows` for how it fails. */
export async function openAggregates(
  clickhouse: ResultSource,
  { packages, breakdowns, format = "ndjson", signal, zstd, ...range }: AggregatesQuery,
): Promise<Rows> {
  const query = composeAggregates({ packages, breakdowns, format });
  return openRows(clickhouse, {
    query,
    params: storableRange(range),
    signal,
    settings: FORMAT_SETTINGS,
    zstd,
  });
}
