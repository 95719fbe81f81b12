import { COUNT, DATE, TIMESTAMP, objectOf } from "../formats.js";

/** Of periods. The others tell of a failure, once. */
export const PERIOD_EVENTS = [
  "weekly-digest",
  "monthly-digest",
  "new-companies",
  "downloads-changed",
] as const;
export type PeriodEvent = (typeof PERIOD_EVENTS)[number];

export const NOTIFICATION_EVENTS = [
  ...PERIOD_EVENTS,
  "import-failed",
  "webhook-disabled",
  "source-failed",
] as const;
export type NotificationEvent = (typeof NOTIFICATION_EVENTS)[number];
export type FailureEvent = Exclude<NotificationEvent, PeriodEvent>;

export function isPeriodEvent(event: NotificationEvent): event is PeriodEvent {
  return PERIOD_EVENTS.some((each) => each === event);
}

export function isDigest(event: NotificationEvent): boolean {
  return event === "weekly-digest" || event === "monthly-digest";
}

/** What every message about a period says. */
interface PeriodData {
  start_date: string;
  /** The first day that is left out. */
  end_date: string;
  complete_through: string;
  /** Whether the numbers were sent before and have changed. */
  correction: boolean;
  /** The name of the one package that it is about. */
  package?: string;
}

export interface DigestTotals {
  downloads: number;
  views: number;
  unique_addresses: number;
  companies: number;
}

export interface NewCompany {
  name: string;
  domain?: string;
  downloads: number;
}

export interface DigestData extends PeriodData {
  totals: DigestTotals;
  /** Of the period before. */
  before: DigestTotals;
  series: { date: string; downloads: number; views: number }[];
  packages: { name: string; downloads: number; before: number }[];
  countries: { country: string; downloads: number }[];
  versions: { version: string; downloads: number }[];
  new_companies: number;
  companies: NewCompany[];
}

export interface NewCompaniesData extends PeriodData {
  new_companies: number;
  companies: NewCompany[];
}

export interface DownloadsChangedData extends PeriodData {
  downloads: number;
  /** Of the same weekday in the four weeks before. */
  median: number;
  /** Against the median: 0.5 is half as many again. Null if that is 0. */
  change: number | null;
  threshold_percent: number;
  /** The five days, oldest first. */
  series: { date: string; downloads: number }[];
}

export interface FailedImport {
  import: string;
  status: string;
  /** Of its package or pixel; absent where it has several. */
  artifact?: string;
  events_total: number;
  events_failed_to_import: number;
  threshold_percent: number;
  reason: "refused-lines" | "upload-interrupted";
}

export interface DisabledWebhook {
  webhook: string;
  /** Of its URL. */
  host: string;
  reason: string;
}

export interface FailedSource {
  source: string;
  kind: string;
  name: string;
  error: string;
}

/** The first failure of an hour, how many there were in all, and the next ones, at most `OTHERS_MAX`. */
type Gathered<Failure> = Failure & { failures: number; others: Failure[] };

export const OTHERS_MAX = 99;

export type ImportFailedData = Gathered<FailedImport>;
export type WebhookDisabledData = Gathered<DisabledWebhook>;
export type SourceFailedData = Gathered<FailedSource>;

export interface NotificationData {
  "weekly-digest": DigestData;
  "monthly-digest": DigestData;
  "new-companies": NewCompaniesData;
  "downloads-changed": DownloadsChangedData;
  "import-failed": ImportFailedData;
  "webhook-disabled": WebhookDisabledData;
  "source-failed": SourceFailedData;
}

const TEXT = { type: "string" } as const;
const TOTALS = objectOf(["downloads", "views", "unique_addresses", "companies"], {
  downloads: COUNT,
  views: COUNT,
  unique_addresses: COUNT,
  companies: COUNT,
});
const PERIOD = {
  start_date: DATE,
  end_date: DATE,
  complete_through: TIMESTAMP,
  correction: {
    type: "boolean",
    description: "True if this message corrects the numbers of an earlier message",
  },
} as const;
const listOf = (items: object) => ({ type: "array", items });
const COMPANIES = {
  new_companies: COUNT,
  companies: listOf(objectOf(["name", "downloads"], { name: TEXT, domain: TEXT, downloads: COUNT })),
} as const;
const PERCENT = { type: "number", minimum: 0 } as const;

const DIGEST = {
  ...PERIOD,
  totals: TOTALS,
  before: TOTALS,
  series: listOf(objectOf(["date", "downloads", "views"], { date: DATE, downloads: COUNT, views: COUNT })),
  packages: listOf(
    objectOf(["name", "downloads", "before"], { name: TEXT, downloads: COUNT, before: COUNT }),
  ),
  countries: listOf(objectOf(["country", "downloads"], { country: TEXT, downloads: COUNT })),
  versions: listOf(objectOf(["version", "downloads"], { version: TEXT, downloads: COUNT })),
  ...COMPANIES,
} as const;

/** By event: when it is sent, and the properties of its data that are always there. */
export const NOTIFICATION_DATA = {
  "weekly-digest": { when: "A week (UTC, Monday to Sunday) is complete", data: DIGEST },
  "monthly-digest": { when: "A month (UTC) is complete", data: DIGEST },
  "new-companies": {
    when: "Companies were seen for the first time on a day (UTC)",
    data: { ...PERIOD, ...COMPANIES },
  },
  "downloads-changed": {
    when: "The downloads of a day (UTC) differ strongly from the same weekday in the previous four weeks",
    data: {
      ...PERIOD,
      downloads: COUNT,
      median: { type: "number", minimum: 0 },
      change: { type: ["number", "null"] },
      threshold_percent: PERCENT,
      series: listOf(objectOf(["date", "downloads"], { date: DATE, downloads: COUNT })),
    },
  },
  "import-failed": {
    when:
      "An import was interrupted, or its share of rejected lines exceeded the threshold. Failures within " +
      "an hour are combined in one event",
    data: gathered(
      {
        import: TEXT,
        status: TEXT,
        events_total: COUNT,
        events_failed_to_import: COUNT,
        threshold_percent: PERCENT,
        reason: { type: "string", enum: ["refused-lines", "upload-interrupted"] },
      },
      { artifact: TEXT },
    ),
  },
  "webhook-disabled": {
    when: "A webhook was disabled because deliveries kept failing",
    data: gathered({ webhook: TEXT, host: TEXT, reason: TEXT }),
  },
  "source-failed": {
    when:
      "Fetching counts from a registry failed three times in a row. Failures within an hour are combined in " +
      "one event",
    data: gathered({ source: TEXT, kind: TEXT, name: TEXT, error: TEXT }),
  },
} as const satisfies {
  [Event in NotificationEvent]: {
    when: string;
    data: Partial<Record<keyof NotificationData[Event], object>>;
  };
};

function gathered<Failure extends Record<string, object>>(failure: Failure, optional: object = {}) {
  return {
    ...failure,
    failures: { ...COUNT, description: "Number of failures within the hour" },
    others: {
      type: "array",
      maxItems: OTHERS_MAX,
      items: objectOf(Object.keys(failure), { ...failure, ...optional }),
      description: `The other failures, at most ${OTHERS_MAX}`,
    },
  };
}
