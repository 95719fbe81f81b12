import type { Breakdown } from "../../schemas/contracts/aggregate.js";
import type { DateRange } from "../../schemas/date-range.js";
import type { ExportFormat } from "../../schemas/contracts/export-format.js";
import { FORMAT_NAMES, FORMAT_SETTINGS } from "./format-rows.js";
import { openRows, type ResultSource, type Rows } from "./open-rows.js";
import { readQuery } from "./read-query.js";
import { uuidsLiteral } from "./sql-literals.js";
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
  const query = await queryOf(packages, format);
  const params = { breakdowns, ...storableRange(range) };
  return openRows(clickhouse, { query, params, signal, settings: FORMAT_SETTINGS, zstd });
}

/** A line leaves out what a column of a table has to hold. */
async function queryOf(packages: readonly string[], format: ExportFormat): Promise<string> {
  const rows = await readQuery("aggregates");
  const shown = await readQuery(format === "ndjson" ? "aggregate-lines" : "aggregate-columns");
  const name = format === "ndjson" ? "TSVRaw" : FORMAT_NAMES[format];
  return `WITH ${uuidsLiteral(packages)} AS packages\n${shown}FROM (\n${rows})\n${ORDER}\nFORMAT ${name}`;
}

const ORDER = "ORDER BY package, date, breakdown, first, second";
