import type { ClickHouse } from "../../schemas/shards.js";
import { DAY_MS, type DateRange } from "../../schemas/date-range.js";
import { readQuery } from "../read-query.js";
import { inChunks } from "./read-company-activity.js";

/** The domains of all companies that ever downloaded a package. */
export async function readDomainsOf(clickhouse: ClickHouse, artifact: string): Promise<string[]> {
  const query = await readQuery("funnel/company-domains");
  const answer = await clickhouse.query({ query, query_params: { artifact }, format: "JSONEachRow" });
  return (await answer.json<{ domain: string }>()).map(({ domain }) => domain);
}

export interface DailyQuery extends DateRange {
  artifacts: readonly string[];
  domains: readonly string[];
}

/** The downloads of each day of the range, by domain. Companies without any are absent. */
export async function readDailyDownloads(
  clickhouse: ClickHouse,
  { artifacts, domains, startDate, endDate }: DailyQuery,
): Promise<ReadonlyMap<string, number[]>> {
  const query = await readQuery("funnel/daily-downloads");
  const first = Date.parse(startDate);
  const days = (Date.parse(endDate) - first) / DAY_MS;
  const found = new Map<string, number[]>();
  for (const someDomains of inChunks(domains, DOMAINS_MAX))
    for (const some of inChunks(artifacts)) {
      const query_params = { artifacts: some, domains: someDomains, start: startDate, end: endDate };
      const answer = await clickhouse.query({ query, query_params, format: "JSONEachRow" });
      for (const { domain, date, downloads } of await answer.json<Row>()) {
        const known = found.get(domain) ?? Array<number>(days).fill(0);
        const day = (Date.parse(date) - first) / DAY_MS;
        known[day] = (known[day] ?? 0) + Number(downloads);
        found.set(domain, known);
      }
    }
  return found;
}

/** A domain has at most 253 bytes, and a parameter 128 KiB. */
const DOMAINS_MAX = 400;

/** 64-bit numbers may be text. */
interface Row {
  domain: string;
  date: string;
  downloads: number | string;
}
