import type { CompanyRecord, FunnelRecord, FunnelRunRecord } from "../../schemas/contracts/funnel.js";
import type { ApiClient } from "./api-client.js";

const COMPANIES_MAX = 5;

/** Places the companies of an owner now instead of at the next hour, and tells where they are. */
export async function companyStages(api: ApiClient, owner: string): Promise<string> {
  const run = await api.post<FunnelRunRecord>(`/v2/${owner}/funnel/run`, {});
  const { stages } = await api.get<FunnelRecord>(`/v2/${owner}/funnel`);
  const list = `/v2/${owner}/companies?sort=score&per_page=${COMPANIES_MAX}`;
  const { companies } = await api.get<{ companies: CompanyRecord[] }>(list);
  const counts = Object.entries(stages).filter(([, count]) => count > 0);
  const rows = companies.map(({ name, domain, stage, downloads }) => {
    return `    ${`${name} (${domain})`.padEnd(52)} ${stage ?? "at no stage"}, ${downloads} downloads\n`;
  });
  return (
    `\nCompanies by funnel stage: ${counts.map(([stage, count]) => `${count} at ${stage}`).join(", ")}.\n` +
    `  ${run.changes} changes of stages, each of which webhooks receive. The companies with the highest scores:\n` +
    rows.join("")
  );
}
