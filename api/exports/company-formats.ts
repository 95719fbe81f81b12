import type { CompanyRecord } from "../../schemas/contracts/company.js";
import { csvOf } from "../http/answers/csv.js";

/** The columns of companies as CSV. New columns are appended. */
export const COMPANY_COLUMNS = [
  "domain",
  "name",
  "stage",
  "since",
  "score",
  "downloads",
  "views",
  "first_seen",
  "last_seen",
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
