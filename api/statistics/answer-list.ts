import type { ListRow } from "../../aggregate/statistics/statistics-query.js";
import type { StatisticsList } from "../../schemas/contracts/statistics/lists.js";
import type { StatisticsListPage, StatisticsRow } from "../../schemas/contracts/statistics/statistics.js";
import { csvOf } from "../answers/csv.js";
import { bytesTag } from "../answers/entity-tag.js";
import { pageBody } from "../answers/paging.js";
import type { ApiContext } from "../route.js";
import type { Page } from "../stores/page.js";
import { positionText } from "./list-position.js";
import { rowOf } from "./statistics-answer.js";

export interface ListAnswer {
  list: StatisticsList;
  measure: StatisticsList["counts"];
  /** Of the measure, in the whole range. */
  total: number;
  /** One more than the page if there is a next one. */
  rows: readonly ListRow[];
  page: Page;
  /** The fields beside the rows. */
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
  const text = listAsCsv(body["rows"] as StatisticsRow[], counted);
  ctx.set("ETag", bytesTag(text));
  ctx.type = "text/csv; charset=utf-8";
  ctx.body = Buffer.from(text);
}

function listAsCsv(
  rows: readonly StatisticsRow[],
  { list, measure }: Pick<ListAnswer, "list" | "measure">,
): string {
  const columns = [...list.values.map(({ field }) => field), measure, "share", "change"];
  return csvOf(
    columns,
    rows.map((row) => columns.map((column) => row[column] ?? "")),
  );
}
