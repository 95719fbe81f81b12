import type { ClickHouseClient } from "@clickhouse/client";
import type { Breakdown } from "../schemas/aggregate.js";
import { openRows } from "./open-rows.js";
import { readQuery } from "./read-query.js";

export interface AggregatesQuery {
  /** UUIDs. */
  packages: readonly string[];
  breakdowns: readonly Breakdown[];
  /** `YYYY-MM-DD`, inclusive. */
  startDate: string;
  /** `YYYY-MM-DD`, exclusive. */
  endDate: string;
  signal: AbortSignal;
}

/** AggregateV1 as NDJSON, ordered by package, date, breakdown and value; see `openRows` for how it fails. */
export async function openAggregates(
  clickhouse: ClickHouseClient,
  { packages, breakdowns, startDate, endDate, signal }: AggregatesQuery,
): Promise<AsyncIterable<Buffer>> {
  const params = { packages, breakdowns, start: startDate, end: endDate };
  return openRows(clickhouse, { query: await readQuery("aggregates"), params, signal });
}
