import type { CompanyRecord } from "../../schemas/contracts/company.js";
import { bytesTag } from "../http/answers/entity-tag.js";
import { pageBody } from "../http/answers/paging.js";
import type { ApiContext } from "../http/route.js";
import type { Page } from "../postgres/page.js";
import { companiesAsCsv, companiesAsLines } from "./company-formats.js";

export type CompaniesType = "application/json" | "application/x-ndjson" | "text/csv";

/** The type that `Accept` rates highest. */
export function companiesTypeOf(ctx: ApiContext): CompaniesType {
  ctx.vary("Accept");
  const wanted = ctx.accepts("application/json", "application/x-ndjson", "application/ndjson", "text/csv");
  if (wanted === false || wanted === "application/json") return "application/json";
  return wanted === "text/csv" ? wanted : "application/x-ndjson";
}

/** Answers a page; `found` has one company more if there is a next one. */
export function answerCompanies(
  ctx: ApiContext,
  found: readonly CompanyRecord[],
  { page, type, asOf }: { page: Page; type: CompaniesType; asOf: string | undefined },
): void {
  const rows = found.map((company) => ({ id: company.domain, company }));
  const body = pageBody(ctx, { name: "companies", rows, page, record: ({ company }) => company });
  if (typeof body["next"] === "string") ctx.set("Link", `<${body["next"]}>; rel="next"`);
  const companies = found.slice(0, page.perPage);
  if (type === "application/json")
    return void (ctx.body = asOf === undefined ? body : { as_of: asOf, ...body });
  if (type === "text/csv") return answerText(ctx, "text/csv; charset=utf-8", companiesAsCsv(companies));
  answerText(ctx, type, companiesAsLines(companies));
}

function answerText(ctx: ApiContext, type: string, text: string): void {
  ctx.set("ETag", bytesTag(text));
  ctx.type = type;
  ctx.body = Buffer.from(text);
}
