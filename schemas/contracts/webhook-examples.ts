import type { DigestData } from "./notification-event.js";
import type { WebhookEventData, WebhookEventKind } from "./webhook-event.js";

const PERIOD = {
  start_date: "2026-10-26",
  end_date: "2026-11-02",
  complete_through: "2026-11-02T00:04:10.000000Z",
  correction: false,
};
const COMPANIES = {
  new_companies: 1,
  companies: [{ name: "Mercedes-Benz", domain: "mercedes-benz.com", downloads: 12 }],
};
const DIGEST: DigestData = {
  ...PERIOD,
  totals: { downloads: 1_840, views: 310, unique_addresses: 420, companies: 17 },
  before: { downloads: 1_600, views: 290, unique_addresses: 385, companies: 16 },
  series: [{ date: "2026-10-26", downloads: 260, views: 41 }],
  packages: [{ name: "web", downloads: 1_840, before: 1_600 }],
  countries: [{ country: "DE", downloads: 610 }],
  versions: [{ version: "1.4.0", downloads: 900 }],
  ...COMPANIES,
};
const ONE = { failures: 1, others: [] };
const ID = "01a1fbad-cab4-710c-82a1-b3f3576e59e4";

/** What each kind of event may say. Lists have an entry of many. */
const WEBHOOK_EXAMPLES: WebhookEventData = {
  "company-funnel-stage-changed": {
    companies: [
      {
        domain: "mercedes-benz.com",
        name: "Mercedes-Benz",
        old_stage: "investigation",
        new_stage: "experimentation",
      },
    ],
  },
  "weekly-digest": DIGEST,
  "monthly-digest": { ...DIGEST, start_date: "2026-10-01", end_date: "2026-11-01" },
  "new-companies": { ...PERIOD, start_date: "2026-11-01", ...COMPANIES },
  "downloads-changed": {
    ...PERIOD,
    start_date: "2026-11-01",
    downloads: 530,
    median: 250,
    change: 1.12,
    threshold_percent: 50,
    series: [{ date: "2026-11-01", downloads: 530 }],
  },
  "import-failed": {
    import: ID,
    status: "done",
    artifact: "web",
    events_total: 1_200,
    events_failed_to_import: 60,
    threshold_percent: 1,
    reason: "refused-lines",
    ...ONE,
  },
  "webhook-disabled": {
    webhook: ID,
    host: "crm.example.org",
    reason: "No event could be delivered for three days.",
    ...ONE,
  },
  "source-failed": {
    source: ID,
    kind: "npm",
    name: "@acme/web",
    error: "The registry returned 503.",
    ...ONE,
  },
  test: { message: "This is a test." },
};

/** An event as its body has it. */
export function exampleEvent(kind: WebhookEventKind, owner = "acme") {
  return {
    id: "01a1fbad-ca48-70ed-9525-6dc0dcdf7c27",
    type: kind,
    owner,
    created_at: "2026-11-02T00:05:00.000000Z",
    data: WEBHOOK_EXAMPLES[kind],
  };
}
