import type { CompanyRecord } from "../../../schemas/contracts/funnel.js";
import { csvOf } from "../../base/http/answers/csv.js";
import { bytesTag } from "../../base/http/answers/headers.js";
import { pageBody } from "../../base/http/answers/paging.js";
import type { ApiContext } from "../../base/http/route.js";
import type { Page } from "../../base/postgres/query.js";

type CompaniesType = "application/json" | "application/x-ndjson" | "text/csv";

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

/** The columns of companies as CSV. New columns are appended. */
const COMPANY_COLUMNS = [
  "domain",
  "name",
  "stage",
  "since",
  "score",
  "downloads",
  "views",
  "first_seen",
  "last_seen",
  "downloads_30_days",
] as const satisfies readonly (keyof CompanyRecord)[];

export function companiesAsLines(companies: readonly CompanyRecord[]): string {
  return companies.map((company) => `${JSON.stringify(company)}\n`).join("");
}

export function companiesAsCsv(companies: readonly CompanyRecord[]): string {
  return csvOf(
    COMPANY_COLUMNS,
    companies.map((company) => COMPANY_COLUMNS.map((column) => company[column] ?? "")),
  );
}
