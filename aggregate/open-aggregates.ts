import type { ClickHouseClient } from "@clickhouse/client";
import type { Breakdown } from "../schemas/aggregate.js";
import { storableDate } from "../schemas/date-range.js";
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

/** A query travels with its parameters in a URL, of which a server takes 128 KiB a parameter: some 2,900 UUIDs. */
const PACKAGES_MAX = 2_000;

/** AggregateV1 as NDJSON, ordered by package, date, breakdown and value; see `openRows` for how it fails. */
export async function openAggregates(
  clickhouse: ClickHouseClient,
  { packages, breakdowns, startDate, endDate, signal }: AggregatesQuery,
): Promise<AsyncIterable<Buffer>> {
  const query = await readQuery("aggregates");
  const sorted = [...packages].sort();
  const open = (from: number) => {
    const params = {
      packages: sorted.slice(from, from + PACKAGES_MAX),
      breakdowns,
      start: storableDate(startDate),
      end: storableDate(endDate),
    };
    return openRows(clickhouse, { query, params, signal });
  };
  // The first is opened now, so that a refused query is known before the answer begins.
  const first = await open(0);
  return inTurn(first, sorted.length, open);
}

async function* inTurn(
  first: AsyncIterable<Buffer>,
  packages: number,
  open: (from: number) => Promise<AsyncIterable<Buffer>>,
): AsyncGenerator<Buffer> {
  yield* first;
  for (let from = PACKAGES_MAX; from < packages; from += PACKAGES_MAX) yield* await open(from);
}
