import type { ClickHouseClient } from "@clickhouse/client";
import type { ArtifactKind } from "../../schemas/records/artifact.js";
import { storableDate } from "../../schemas/date-range.js";
import { readQuery } from "../read-query.js";
import { ARTIFACTS_MAX, type DaysQuery } from "./read-company-days.js";

/** How often a company downloaded a package, or viewed a pixel. */
export interface ArtifactActivity {
  kind: ArtifactKind;
  id: string;
  events: number;
}

/** These packages and pixels, as far as the company used them in the range; the most used first. */
export async function readCompanyArtifacts(
  clickhouse: ClickHouseClient,
  { artifacts, domain, startDate, endDate }: DaysQuery,
): Promise<ArtifactActivity[]> {
  const used: ArtifactActivity[] = [];
  for (let from = 0; from < artifacts.length; from += ARTIFACTS_MAX) {
    const some = artifacts.slice(from, from + ARTIFACTS_MAX);
    const answer = await clickhouse.query({
      query: await readQuery("funnel/company-artifacts"),
      query_params: { artifacts: some, domain, start: storableDate(startDate), end: storableDate(endDate) },
      format: "JSONEachRow",
    });
    const rows = await answer.json<{ id: string; kind: ArtifactKind; events: number | string }>();
    used.push(...rows.map(({ id, kind, events }) => ({ id, kind, events: Number(events) })));
  }
  return used.sort((a, b) => b.events - a.events || (a.id < b.id ? -1 : 1));
}
