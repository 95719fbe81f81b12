import type { ClickHouse } from "../../schemas/shards.js";
import { storableDate, type DateRange } from "../../schemas/date-range.js";
import { readQuery } from "../read-query.js";

/** Selects the events of a company on these packages and pixels in a range. */
export interface CompanyQuery extends DateRange {
  /** UUIDs. */
  artifacts: readonly string[];
  domain: string;
}

/** Parameters travel in the URL, and a server takes 128 KiB for each: some 2,900 UUIDs. */
const ARTIFACTS_MAX = 2_000;

/** The rows of one of this folder's statements. Many artifacts are asked for in turn: no row sums over all of them. */
export async function companyRows<Row>(
  clickhouse: ClickHouse,
  statement: "company-artifacts" | "company-days",
  { artifacts, domain, startDate, endDate }: CompanyQuery,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let from = 0; from < artifacts.length; from += ARTIFACTS_MAX) {
    const some = artifacts.slice(from, from + ARTIFACTS_MAX);
    const answer = await clickhouse.query({
      query: await readQuery(`funnel/${statement}`),
      query_params: { artifacts: some, domain, start: storableDate(startDate), end: storableDate(endDate) },
      format: "JSONEachRow",
    });
    rows.push(...(await answer.json<Row>()));
  }
  return rows;
}
