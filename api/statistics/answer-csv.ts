import type { StatisticsList } from "../../schemas/contracts/lists.js";
import type { Statistics, StatisticsRow } from "../../schemas/contracts/statistics.js";
import { csvOf } from "../http/answers/csv.js";
import { bytesTag } from "../http/answers/entity-tag.js";
import type { ApiContext } from "../http/route.js";

export function answerCsv(ctx: ApiContext, text: string): void {
  ctx.set("ETag", bytesTag(text));
  ctx.type = "text/csv; charset=utf-8";
  ctx.body = Buffer.from(text);
}

export function listAsCsv(
  rows: readonly StatisticsRow[],
  { list, measure }: { list: StatisticsList; measure: StatisticsList["counts"] },
): string {
  const columns = [...list.values.map(({ field }) => field), measure, "share", "change"];
  return csvOf(
    columns,
    rows.map((row) => columns.map((column) => row[column] ?? "")),
  );
}

/** A line for each bucket. */
export function seriesAsCsv({ series }: Pick<Statistics, "series">): string {
  return csvOf(
    ["date", "downloads", "views", "unique_addresses"],
    series.map((bucket) => [bucket.date, bucket.downloads, bucket.views, bucket.unique_addresses]),
  );
}
