import type { ClickHouse } from "../../schemas/shards.js";
import type { ArtifactKind } from "../../schemas/records/artifact.js";
import { companyRows, type CompanyQuery } from "./company-rows.js";

/** How often a company downloaded a package, or viewed a pixel. */
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
