import { readList } from "../../../../aggregate/statistics/read-statistics.js";
import { listNamed } from "../../../../schemas/contracts/breakdowns.js";
import type { NewCompaniesData, NewCompany } from "../../../../schemas/contracts/notification-event.js";
import { FIRST_DAY } from "../../../../schemas/date-range.js";
import { numbered } from "../../../../schemas/records/numbered.js";
import { formatDate } from "../../../web/parts/format.js";
import { type Chart, type Draft, LABEL_MAX, oneLine, quoted } from "../message.js";
import { type PeriodKind, type Reading, asOf, subjectOf } from "./period-kind.js";

export const newCompanies: PeriodKind<"new-companies"> = {
  unit: "day",
  read: (reading) => readNewCompanies(reading, 100),
  isWorthSending: (data) => data.new_companies > 0,
  figuresOf: (data) => [data.new_companies],
  compose,
};

function compose(data: NewCompaniesData, owner: string): Draft {
  const { new_companies: fresh, companies } = data;
  const name = subjectOf(data, owner);
  const many = numbered(fresh, "new company", "new companies");
  const [first] = companies;
  const who = fresh === 1 && first !== undefined ? quoted(first.name) : many;
  const rest = fresh - Math.min(companies.length, ROWS_MAX);
  return {
    subject: `${name}: ${who}, ${formatDate(data.start_date)}`,
    lines: [`${many} downloaded ${name} for the first time on ${formatDate(data.start_date)}.`],
    charts: [{ title: "Downloads on that day", rows: companyRows(companies.slice(0, ROWS_MAX)) }],
    small: [...(rest > 0 ? [`And ${numbered(rest, "more", "more")}.`] : []), asOf(data)],
    label: "Open companies",
    end: "/companies",
  };
}

const ROWS_MAX = 20;

export function companyRows(companies: readonly NewCompany[]): Chart["rows"] {
  return companies.map(({ name, domain, downloads }) => ({
    label: oneLine(name, LABEL_MAX),
    value: downloads,
    ...(domain !== undefined && domain !== name && { note: oneLine(domain, LABEL_MAX) }),
  }));
}

const COMPANY = listNamed("company");
/** More than one period can bring. */
const COMPANIES_MAX = 100_000;

/** Those of which nothing was counted before. */
export async function readNewCompanies(
  { clickhouse, query }: Reading,
  rows: number,
): Promise<Pick<NewCompaniesData, "new_companies" | "companies">> {
  const before = { startDate: FIRST_DAY, endDate: query.range.startDate };
  const read = await readList(clickhouse, { ...query, before, lists: [COMPANY], limit: COMPANIES_MAX });
  const found = read.rows.filter((row) => row.before === 0);
  const companies = found.slice(0, rows).map(({ values: [name = "", domain = ""], count }) => ({
    name,
    ...(domain !== "" && { domain }),
    downloads: count,
  }));
  return { new_companies: found.length, companies };
}
