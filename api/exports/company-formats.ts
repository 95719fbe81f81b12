import type { CompanyRecord } from "../../schemas/contracts/company.js";

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

/** RFC 4180 with a header and `\n` at the end of each line. */
export function companiesAsCsv(companies: readonly CompanyRecord[]): string {
  const rows = companies.map((company) => COMPANY_COLUMNS.map((column) => cell(company[column] ?? "")));
  return [COMPANY_COLUMNS, ...rows].map((row) => `${row.join(",")}\n`).join("");
}

function cell(value: string | number): string {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
