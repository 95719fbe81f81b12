import type { ClickHouseSettings } from "@clickhouse/client";
import type { ClickHouse } from "../../schemas/shards.js";
import { ONE_SNAPSHOT } from "../queries/live-addresses.js";
import { hideErased } from "../queries/open-rows.js";
import { storableRange } from "../../schemas/date-range.js";
import { type PackageDate, packageDatesLiteral, uuidsLiteral } from "../queries/sql-literals.js";
import type { StatisticsQuery } from "./statistics-query.js";

const SETTINGS = {
  output_format_json_quote_64bit_integers: 0,
  // The ids of an owner's artifacts are in the text.
  max_query_size: "67108864",
  ...ONE_SNAPSHOT,
  // Rows of address_sets are few and large. By default one thread reads all of a part.
  merge_tree_min_rows_for_concurrent_read: "100",
  merge_tree_min_bytes_for_concurrent_read: "10000000",
  cancel_http_readonly_queries_on_client_close: 1,
} as const satisfies ClickHouseSettings;

/**
 * The rows of a statement. In front of its text stand `packages`, `pixels`, `artifacts`, which are both, and `stale`: as
 * parameters they could be too long. Its parameters are those of `rangeParams` and `params`.
 */
export async function rowsOf<Row>(
  clickhouse: ClickHouse,
  {
    packages,
    pixels,
    signal,
    unsettled,
    stale = [],
    ...ranges
  }: Pick<StatisticsQuery, "packages" | "pixels" | "range" | "before" | "compared" | "signal"> & {
    unsettled?: StatisticsQuery["unsettled"];
    stale?: readonly PackageDate[];
  },
  { query, params = {} }: { query: string; params?: Record<string, unknown> },
): Promise<Row[]> {
  const scope = [
    `${uuidsLiteral(packages)} AS packages`,
    `${uuidsLiteral(pixels)} AS pixels`,
    `${uuidsLiteral([...packages, ...pixels])} AS artifacts`,
    `${packageDatesLiteral(stale)} AS stale`,
  ];
  const answer = await clickhouse.query({
    query: `WITH ${scope.join(",\n")}\nSELECT *\nFROM (\n${query}\n)`,
    query_params: { ...rangeParams(ranges), ...params },
    format: "JSONEachRow",
    abort_signal: signal,
    clickhouse_settings: { ...SETTINGS, ...(await hideErased(clickhouse, unsettled?.erasures, signal)) },
  });
  return answer.json<Row>();
}

/** `start`, `end`, `comparedEnd`, `beforeStart` and `beforeEnd`; the range before is empty where nothing is compared. */
function rangeParams({
  range,
  before,
  compared = range,
}: Pick<StatisticsQuery, "range" | "before" | "compared">) {
  const { start, end } = storableRange(range);
  const { start: beforeStart, end: beforeEnd } =
    before === undefined ? { start, end: start } : storableRange(before);
  return { start, end, comparedEnd: storableRange(compared).end, beforeStart, beforeEnd };
}
