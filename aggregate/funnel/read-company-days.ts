import type { ClickHouse } from "../../schemas/shards.js";
import type { CompanyDay } from "../../schemas/contracts/funnel.js";
import { companyRows, type CompanyQuery } from "./company-rows.js";

/** The days of the range on which a company downloaded these packages or viewed these pixels, in order. */
export async function readCompanyDays(clickhouse: ClickHouse, query: CompanyQuery): Promise<CompanyDay[]> {
  const days = new Map<string, CompanyDay>();
  for (const row of await companyRows<Row>(clickhouse, "company-days", query)) add(days, row);
  return [...days.values()].sort((a, b) => (a.date < b.date ? -1 : 1));
}

/** 64-bit numbers may be text. */
interface Row {
  date: string;
  downloads: number | string;
  views: number | string;
}

function add(days: Map<string, CompanyDay>, { date, downloads, views }: Row): void {
  const day = days.get(date) ?? { date, downloads: 0, views: 0 };
  days.set(date, {
    date,
    downloads: day.downloads + Number(downloads),
    views: day.views + Number(views),
  });
}
