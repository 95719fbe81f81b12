import type { ListRow } from "../../aggregate/statistics/statistics-query.js";
import type { StatisticsList } from "../../schemas/contracts/lists.js";
import type { StatisticsListPage, StatisticsRow } from "../../schemas/contracts/statistics.js";
import { pageBody } from "../http/answers/paging.js";
import type { ApiContext } from "../http/route.js";
import type { Page } from "../postgres/page.js";
import { answerCsv, listAsCsv } from "./answer-csv.js";
import { positionText } from "./list-position.js";
import { rowOf } from "./statistics-answer.js";

export interface ListAnswer {
  list: StatisticsList;
  measure: StatisticsList["counts"];
  /** The total of the measure in the whole range. */
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
  answerCsv(ctx, listAsCsv(body["rows"] as StatisticsRow[], counted));
}
