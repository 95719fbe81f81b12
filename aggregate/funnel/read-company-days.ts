import type { ClickHouseClient } from "@clickhouse/client";
import type { CompanyDay } from "../../schemas/contracts/company.js";
import { storableDate, type DateRange } from "../../schemas/date-range.js";
import { readQuery } from "../read-query.js";

export interface DaysQuery extends DateRange {
  /** UUIDs. */
  artifacts: readonly string[];
  domain: string;
}

/** Parameters travel in the URL, and a server takes 128 KiB for each: some 2,900 UUIDs. */
export const ARTIFACTS_MAX = 2_000;

/** The days of the range on which a company downloaded these packages or viewed these pixels, in order. */
export async function readCompanyDays(
  clickhouse: ClickHouseClient,
  { artifacts, domain, startDate, endDate }: DaysQuery,
): Promise<CompanyDay[]> {
  const days = new Map<string, CompanyDay>();
  for (let from = 0; from < artifacts.length; from += ARTIFACTS_MAX) {
    const some = artifacts.slice(from, from + ARTIFACTS_MAX);
    const answer = await clickhouse.query({
      query: await readQuery("funnel/company-days"),
      query_params: { artifacts: some, domain, start: storableDate(startDate), end: storableDate(endDate) },
      format: "JSONEachRow",
    });
    for (const row of await answer.json<Row>()) add(days, row);
  }
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
