import type { CompanyRecord } from "../../../../schemas/contracts/company.js";
import type { PackageV1 } from "../../../../schemas/contracts/package.js";
import type { PixelRecord } from "../../../../schemas/contracts/pixel.js";
import type { PackageStatistics } from "../../../../schemas/contracts/package-statistics.js";
import type { Statistics } from "../../../../schemas/contracts/statistics.js";
import type { WebhookRecord } from "../../../../schemas/contracts/webhook.js";
import type { EventImport } from "../../../../schemas/records/import-store.js";
import { DAY_MS, lastDays } from "../../../../schemas/date-range.js";
import { path } from "../../address.js";
import { mayManage, type Visit } from "../../page.js";
import { ifAllowed, packagesOf } from "../artifacts-of.js";

export interface Overview {
  packages: readonly PackageV1[];
  pixels: readonly PixelRecord[];
  statistics: Statistics;
  byPackage: PackageStatistics;
  /** At a stage since less than a week; absent if the viewer may not see companies. */
  newStages: readonly CompanyRecord[] | undefined;
  /** Only for those who manage. */
  imports: readonly EventImport[];
  disabledWebhooks: readonly WebhookRecord[];
}

export const OVERVIEW_DAYS = 30;
const WEEK_MS = 7 * DAY_MS;
const RECENT_IMPORTS = 20;

/** Throws `not-found` for an owner of whom the viewer may see nothing. */
export async function loadOverview(visit: Visit, now = new Date()): Promise<Overview> {
  const { api, owner } = visit;
  const range = lastDays(OVERVIEW_DAYS, now);
  const managed = mayManage(owner);
  const [packages, pixels, statistics, byPackage, companies, imports, webhooks] = await Promise.all([
    packagesOf(visit),
    ifAllowed(api<{ pixels: PixelRecord[] }>({ path: path`/v2/pixels/${owner.name}` })),
    api<Statistics>({
      path: path`/v2/${owner.name}/stats`,
      query: { ...range, compare: "previous", limit: 5 },
    }),
    api<PackageStatistics>({ path: path`/v2/${owner.name}/stats/packages`, query: { ...range } }),
    ifAllowed(
      api<{ companies: CompanyRecord[] }>({
        path: path`/v2/${owner.name}/companies`,
        query: { sort: "last_seen", per_page: 1000 },
      }),
    ),
    managed
      ? ifAllowed(
          api<{ event_imports: EventImport[] }>({
            path: path`/v2/imports/${owner.name}`,
            query: { per_page: RECENT_IMPORTS },
          }),
        )
      : undefined,
    managed
      ? ifAllowed(api<{ webhooks: WebhookRecord[] }>({ path: path`/v2/${owner.name}/webhooks` }))
      : undefined,
  ]);
  return {
    packages,
    pixels: pixels?.pixels ?? [],
    statistics,
    byPackage,
    newStages: companies && newest(companies.companies, now),
    imports: imports?.event_imports ?? [],
    disabledWebhooks:
      webhooks?.webhooks.filter(({ enabled, disabled_reason }) => !enabled && disabled_reason) ?? [],
  };
}

function newest(companies: readonly CompanyRecord[], now: Date): CompanyRecord[] {
  const sinceMs = ({ since }: CompanyRecord) => Date.parse(since ?? "") || 0;
  return companies
    .filter((each) => each.stage !== undefined && sinceMs(each) > now.getTime() - WEEK_MS)
    .sort((one, other) => sinceMs(other) - sinceMs(one));
}
