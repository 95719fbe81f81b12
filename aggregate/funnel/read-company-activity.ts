import type { ClickHouse } from "../../schemas/shards.js";
import type { ArtifactKind } from "../../schemas/records/artifact.js";
import type { CompanyDay } from "../../schemas/contracts/funnel.js";
import { storableDate, type DateRange } from "../../schemas/date-range.js";
import { readQuery } from "../read-query.js";

export interface ArtifactActivity {
  kind: ArtifactKind;
  id: string;
  events: number;
}

/** These packages and pixels, as far as the company used them in the range; the most used first. */
export async function readCompanyArtifacts(
  clickhouse: ClickHouse,
  query: CompanyQuery,
): Promise<ArtifactActivity[]> {
  const rows = await companyRows<Row>(clickhouse, "company-artifacts", query);
  return rows
    .map((row) => ({ ...row, events: Number(row.events) }))
    .sort((a, b) => b.events - a.events || (a.id < b.id ? -1 : 1));
}

/** 64-bit numbers may be text. */
interface Row extends Omit<ArtifactActivity, "events"> {
  events: number | string;
}

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

export interface CompanyQuery extends DateRange {
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
  for (const some of inChunks(artifacts)) {
    const answer = await clickhouse.query({
      query: await readQuery(`funnel/${statement}`),
      query_params: { artifacts: some, domain, start: storableDate(startDate), end: storableDate(endDate) },
      format: "JSONEachRow",
    });
    rows.push(...(await answer.json<Row>()));
  }
  return rows;
}

export function* inChunks(all: readonly string[], most = ARTIFACTS_MAX): Generator<readonly string[]> {
  for (let from = 0; from < all.length; from += most) yield all.slice(from, from + most);
}
