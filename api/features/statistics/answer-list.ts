import type { ListPosition, ListRow } from "../../../aggregate/statistics/statistics-query.js";
import type { StatisticsList } from "../../../schemas/contracts/breakdowns.js";
import type { Statistics, StatisticsListPage, StatisticsRow } from "../../../schemas/contracts/statistics.js";
import { pageBody } from "../../base/http/answers/paging.js";
import type { ApiContext } from "../../base/http/route.js";
import type { Page } from "../../base/postgres/query.js";
import { rowOf } from "./statistics-answer.js";
import { csvOf } from "../../base/http/answers/csv.js";
import { bytesTag } from "../../base/http/answers/headers.js";

interface ListAnswer {
  list: StatisticsList;
  measure: StatisticsList["counts"];
  /** The total of the measure in the whole range. */
  total: number;
  /** One more than the page if there is a next one. */
  rows: readonly ListRow[];
  page: Page;
  about: Omit<StatisticsListPage, "rows" | "next">;
  format: "json" | "csv";
}

export function answerList(ctx: ApiContext, { rows, page, about, format, ...counted }: ListAnswer): void {
  const body = pageBody(ctx, {
    name: "rows",
    rows: rows.map((row) => ({ id: positionText(row), row })),
    page,
    record: ({ row }) => rowOf(row, counted),
  });
  if (typeof body["next"] === "string") ctx.set("Link", `<${body["next"]}>; rel="next"`);
  if (format === "json") return void (ctx.body = { ...about, ...body });
  answerCsv(ctx, listAsCsv(body["rows"] as StatisticsRow[], counted));
}

/** The text of a row's position, for `after`: opaque to callers. */
export function positionText({ count, values }: ListRow): string {
  return Buffer.from(JSON.stringify([count, ...values])).toString("base64url");
}

/** Undefined for a text that `positionText` has not made. */
export function parsePosition(text: string): ListPosition | undefined {
  try {
    const [count, ...values] = JSON.parse(Buffer.from(text, "base64url").toString()) as unknown[];
    if (!Number.isSafeInteger(count) || !values.every((value) => typeof value === "string")) return undefined;
    return { count: count as number, values };
  } catch {
    return undefined;
  }
}

export function answerCsv(ctx: ApiContext, text: string): void {
  ctx.set("ETag", bytesTag(text));
  ctx.type = "text/csv; charset=utf-8";
  ctx.body = Buffer.from(text);
}

function listAsCsv(
  rows: readonly StatisticsRow[],
  { list, measure }: { list: StatisticsList; measure: StatisticsList["counts"] },
): string {
  const columns = [...list.values.map(({ field }) => field), measure, "share", "change"];
  return csvOf(
    columns,
    rows.map((row) => columns.map((column) => row[column] ?? "")),
  );
}

export function seriesAsCsv({ series }: Pick<Statistics, "series">): string {
  const isByHour = series[0]?.time !== undefined;
  return csvOf(
    [isByHour ? "time" : "date", "downloads", "views", "unique_addresses"],
    series.map((bucket) => [
      bucket.time ?? bucket.date,
      bucket.downloads,
      bucket.views,
      bucket.unique_addresses,
    ]),
  );
}
