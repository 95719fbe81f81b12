import { COUNT, DATE, TIMESTAMP, namesOf, objectOf } from "../formats.js";

/** What a webhook or a notification may send. */
export interface EventDeclaration {
  /** A noun, for forms and tables. */
  label: string;
  /** A sentence without its full stop, for the API document. */
  when: string;
  data: object;
  /** Valid by `data`. */
  example: object;
}

/** The type of an event's data. `FromSchema` of json-schema-to-ts is too deep for the digest. */
export type DataOf<Schema> = Schema extends { enum: readonly (infer Value)[] }
  ? Value
  : Schema extends { items: infer Items }
    ? DataOf<Items>[]
    : Schema extends { required: readonly (infer Name)[]; properties: infer Properties }
      ? { -readonly [Each in keyof Properties & Name]: DataOf<Properties[Each]> } & {
          -readonly [Each in Exclude<keyof Properties, Name>]?: DataOf<Properties[Each]>;
        }
      : Schema extends { type: readonly (infer Type)[] }
        ? Primitives[Type & keyof Primitives]
        : Schema extends { type: infer Type }
          ? Primitives[Type & keyof Primitives]
          : never;

interface Primitives {
  string: string;
  integer: number;
  number: number;
  boolean: boolean;
  null: null;
}

interface NotificationDeclaration extends EventDeclaration {
  threshold?: {
    /** The default. */
    percent: number;
    /** A noun, without its article. */
    about: string;
  };
  /** The event is about the owner, never about one package. */
  isOfOwner?: true;
}

export const TEXT = { type: "string" } as const;
const PERCENT = { type: "number", minimum: 0 } as const;

function listOf<const Items extends object>(items: Items) {
  return { type: "array", items } as const;
}

const PERIOD = {
  start_date: DATE,
  end_date: DATE,
  complete_through: TIMESTAMP,
  correction: {
    type: "boolean",
    description: "True if this message corrects the numbers of an earlier message",
  },
} as const;
const PACKAGE = { package: { ...TEXT, description: "The package" } } as const;
const COMPANIES = {
  new_companies: COUNT,
  companies: listOf(objectOf(["name", "downloads"], { name: TEXT, domain: TEXT, downloads: COUNT })),
} as const;
const TOTALS = objectOf(["downloads", "views", "unique_addresses", "companies"], {
  downloads: COUNT,
  views: COUNT,
  unique_addresses: COUNT,
  companies: COUNT,
});
/** `before` is the period before. */
const DIGEST_FIELDS = {
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
const DIGEST = objectOf(namesOf(DIGEST_FIELDS), { ...DIGEST_FIELDS, ...PACKAGE });

const PERIOD_EXAMPLE = {
  start_date: "2026-10-26",
  end_date: "2026-11-02",
  complete_through: "2026-11-02T00:04:10.000000Z",
  correction: false,
};
const COMPANIES_EXAMPLE = {
  new_companies: 1,
  companies: [{ name: "Mercedes-Benz", domain: "mercedes-benz.com", downloads: 12 }],
};
const DIGEST_EXAMPLE = {
  ...PERIOD_EXAMPLE,
  totals: { downloads: 1_840, views: 310, unique_addresses: 420, companies: 17 },
  before: { downloads: 1_600, views: 290, unique_addresses: 385, companies: 16 },
  series: [{ date: "2026-10-26", downloads: 260, views: 41 }],
  packages: [{ name: "web", downloads: 1_840, before: 1_600 }],
  countries: [{ country: "DE", downloads: 610 }],
  versions: [{ version: "1.4.0", downloads: 900 }],
  ...COMPANIES_EXAMPLE,
};

const NEW_COMPANIES = { ...PERIOD, ...COMPANIES } as const;
/** `change` is relative to the median: 0.5 means +50 %. `series` has the five days, oldest first. */
const CHANGE = {
  ...PERIOD,
  downloads: COUNT,
  median: { type: "number", minimum: 0 },
  change: { type: ["number", "null"] },
  threshold_percent: PERCENT,
  series: listOf(objectOf(["date", "downloads"], { date: DATE, downloads: COUNT })),
} as const;

/** Events about a period that is over. */
export const PERIOD_EVENTS = {
  "weekly-digest": {
    label: "Weekly digest",
    when: "A week (UTC, Monday to Sunday) is complete",
    data: DIGEST,
    example: DIGEST_EXAMPLE,
  },
  "monthly-digest": {
    label: "Monthly digest",
    when: "A month (UTC) is complete",
    data: DIGEST,
    example: { ...DIGEST_EXAMPLE, start_date: "2026-10-01", end_date: "2026-11-01" },
  },
  "new-companies": {
    label: "New companies",
    when: "At least one company was first seen on the completed day (UTC)",
    data: objectOf(namesOf(NEW_COMPANIES), { ...NEW_COMPANIES, ...PACKAGE }),
    example: { ...PERIOD_EXAMPLE, start_date: "2026-11-01", ...COMPANIES_EXAMPLE },
  },
  "downloads-changed": {
    label: "Unusual downloads",
    when: "The downloads of a day (UTC) differ strongly from the same weekday in the previous four weeks",
    threshold: {
      percent: 50,
      about: "minimum difference, in percent, from the median of the same weekday in the previous four weeks",
    },
    data: objectOf(namesOf(CHANGE), { ...CHANGE, ...PACKAGE }),
    example: {
      ...PERIOD_EXAMPLE,
      start_date: "2026-11-01",
      downloads: 530,
      median: 250,
      change: 1.12,
      threshold_percent: 50,
      series: [{ date: "2026-11-01", downloads: 530 }],
    },
  },
} as const satisfies Record<string, NotificationDeclaration>;

export const OTHERS_MAX = 99;

/** The first failure of an hour, the number of failures, and the next ones. */
function gathered<const Failure extends object, const Others extends object>(
  failure: Failure,
  others: Others,
) {
  return {
    ...failure,
    failures: { ...COUNT, description: "Number of failures within the hour" },
    others: {
      type: "array",
      maxItems: OTHERS_MAX,
      items: others,
      description: `The other failures, at most ${OTHERS_MAX}`,
    },
  } as const;
}

const IMPORT = {
  import: TEXT,
  status: TEXT,
  events_total: COUNT,
  events_failed_to_import: COUNT,
  threshold_percent: PERCENT,
  reason: { type: "string", enum: ["refused-lines", "upload-interrupted"] },
} as const;
const IMPORTS = gathered(IMPORT, objectOf(namesOf(IMPORT), { ...IMPORT, artifact: TEXT }));
const WEBHOOK = { webhook: TEXT, host: TEXT, reason: TEXT } as const;
const WEBHOOKS = gathered(WEBHOOK, objectOf(namesOf(WEBHOOK), WEBHOOK));
const SOURCE = { source: TEXT, kind: TEXT, name: TEXT, error: TEXT } as const;
const SOURCES = gathered(SOURCE, objectOf(namesOf(SOURCE), SOURCE));
const ONE = { failures: 1, others: [] };
const ID = "01a1fbad-cab4-710c-82a1-b3f3576e59e4";

/** Events about something that failed. Failures within an hour are one event. */
export const FAILURE_EVENTS = {
  "import-failed": {
    label: "Failed imports",
    when:
      "An import was interrupted, or its share of rejected lines exceeded the threshold. Failures within " +
      "an hour are combined in one event",
    threshold: { percent: 1, about: "percentage of rejected lines above which you are notified" },
    data: objectOf(namesOf(IMPORTS), {
      ...IMPORTS,
      artifact: { ...TEXT, description: "Absent for imports into several packages or pixels" },
    }),
    example: {
      import: ID,
      status: "done",
      artifact: "web",
      events_total: 1_200,
      events_failed_to_import: 60,
      threshold_percent: 1,
      reason: "refused-lines",
      ...ONE,
    },
  },
  "webhook-disabled": {
    label: "Disabled webhooks",
    when: "A webhook was disabled because deliveries kept failing",
    isOfOwner: true,
    data: objectOf(namesOf(WEBHOOKS), WEBHOOKS),
    example: {
      webhook: ID,
      host: "crm.example.org",
      reason: "No event could be delivered for three days.",
      ...ONE,
    },
  },
  "source-failed": {
    label: "Failed registry counts",
    when:
      "Fetching counts from a registry failed three times in a row. Failures within an hour are combined in " +
      "one event",
    data: objectOf(namesOf(SOURCES), SOURCES),
    example: {
      source: ID,
      kind: "npm",
      name: "@acme/web",
      error: "The registry returned 503.",
      ...ONE,
    },
  },
} as const satisfies Record<string, NotificationDeclaration>;

/** Notifications and webhooks subscribe to these. */
export const NOTIFICATION_EVENTS = { ...PERIOD_EVENTS, ...FAILURE_EVENTS };

export type PeriodEvent = keyof typeof PERIOD_EVENTS;
export type FailureEvent = keyof typeof FAILURE_EVENTS;
export type NotificationEvent = PeriodEvent | FailureEvent;

export type NotificationData = {
  [Event in NotificationEvent]: DataOf<(typeof NOTIFICATION_EVENTS)[Event]["data"]>;
};
export type DigestData = NotificationData["weekly-digest"];
export type NewCompaniesData = NotificationData["new-companies"];
export type DownloadsChangedData = NotificationData["downloads-changed"];
export type ImportFailedData = NotificationData["import-failed"];
export type WebhookDisabledData = NotificationData["webhook-disabled"];
export type SourceFailedData = NotificationData["source-failed"];
export type FailureOf<Event extends FailureEvent> = NotificationData[Event]["others"][number];
export type DigestTotals = DigestData["totals"];
export type NewCompany = DigestData["companies"][number];
/** Properties of every event about a period. */
export type PeriodData = Pick<DigestData, keyof typeof PERIOD | "package">;

export const NOTIFICATION_EVENT_NAMES = namesOf(NOTIFICATION_EVENTS);

export function isPeriodEvent(event: NotificationEvent): event is PeriodEvent {
  return event in PERIOD_EVENTS;
}

const DECLARATIONS: Readonly<Partial<Record<string, NotificationDeclaration>>> = NOTIFICATION_EVENTS;

/** In percent; null for an event without a threshold. */
export function defaultThreshold(event: string): number | null {
  return DECLARATIONS[event]?.threshold?.percent ?? null;
}

/** A sentence for each event with a threshold, without the last full stop. */
export function describeThresholds(nameOf: (event: NotificationEvent) => string): string {
  return NOTIFICATION_EVENT_NAMES.flatMap((event) => {
    const threshold = DECLARATIONS[event]?.threshold;
    return threshold ? [`${nameOf(event)}: ${threshold.about} (default ${threshold.percent})`] : [];
  }).join(". ");
}

export function isOfOwner(event: string): boolean {
  return DECLARATIONS[event]?.isOfOwner === true;
}

export function isDigest(event: NotificationEvent): boolean {
  return event === "weekly-digest" || event === "monthly-digest";
}
