import { SOURCE_KINDS } from "../../schemas/contracts/source.js";
import { DEFAULT_QUOTAS } from "../../api/base/access/quotas.js";

/** One environment variable: the rule that its value is checked against, and its documentation. */
export interface VariableSchema {
  type: "string";
  format?: string;
  enum?: readonly string[];
  /** Finishes the sentence "<VARIABLE> must be ...". */
  mustBe: string;
  /** The value that counts when the variable is not set. */
  default?: string;
  /** The effect of not setting it, where there is no default value. */
  unset?: string;
  /** Sentences for the reader of the configuration page and of `start --help`. */
  meaning: string;
}

export const SWITCH = {
  type: "string",
  enum: ["true", "false"],
  mustBe: "true or false",
  default: "false",
} as const;

export const COLLECTION_VARIABLES = {
  COLLECT_HOST: {
    type: "string",
    format: "host",
    mustBe: "a host name",
    unset: "any host that is not a domain of a package, including hosts of Docker packages",
    meaning: "The only host on which pixels and npm reports are received. Packages cannot use this host.",
  },
  DOMAIN_VERIFICATION: {
    type: "string",
    enum: ["off", "dns"],
    mustBe: "off or dns",
    default: "off",
    meaning:
      "With `dns`, the service serves a package's host only after its owner has verified it with a TXT " +
      "record; see [who owns a host](collector.md#who-owns-a-host). Use it if people you don't know have " +
      "accounts.",
  },
  DNS_SERVERS: {
    type: "string",
    format: "dns-servers",
    mustBe: "IP addresses, with or without a port, separated by commas, such as 9.9.9.9,[2620:fe::fe]:53",
    unset: "the system's DNS servers",
    meaning: "DNS servers for `DOMAIN_VERIFICATION`.",
  },
  COLLECT_ALLOW_PRIVATE_UPSTREAMS: {
    ...SWITCH,
    meaning:
      "Whether Python indexes and image registries can have private, loopback or other special IP addresses.",
  },
} as const satisfies Record<string, VariableSchema>;

export const QUOTA_VARIABLES = {
  QUOTAS: {
    type: "string",
    format: "quotas",
    mustBe: `one or more of ${Object.keys(DEFAULT_QUOTAS).join(", ")}, each with its number, such as packages=5000,pixels=200`,
    default: Object.entries(DEFAULT_QUOTAS)
      .map(([name, max]) => `${name}=${max}`)
      .join(","),
    meaning:
      "Maximum number of records per owner (packages, pixels, webhooks, sources, annotations, " +
      "notifications), per account (organizations, access tokens) and per package (domains, routes). " +
      "Quotas that you omit keep their default. Existing records are never removed.",
  },
} as const satisfies Record<string, VariableSchema>;

export const SOURCE_VARIABLES = {
  SOURCES: {
    type: "string",
    enum: ["on", "off"],
    mustBe: "on or off",
    default: "on",
    meaning: "Whether the role `jobs` fetches the counts of [sources](../how-to/sources.md) from registries.",
  },
  SOURCES_SCHEDULE: {
    type: "string",
    format: "cron",
    mustBe: 'a cron expression such as "23 5 * * *"',
    default: "23 5 * * *",
    meaning: "When counts are fetched, in UTC. Each source has its own time within the following hour.",
  },
  SOURCES_URLS: {
    type: "string",
    format: "source-urls",
    mustBe: `http:// or https:// URLs by kind, separated by spaces, such as npm=https://npm.example.org (kinds: ${SOURCE_KINDS.join(", ")})`,
    unset: "the registries' own URLs",
    meaning:
      "URLs to use instead of the registries' own. Only these URLs can point to private hosts. Redirects " +
      "from them to another private host or port are not followed.",
  },
  GITHUB_TOKEN: {
    type: "string",
    format: "password",
    mustBe: "a GitHub token",
    unset: "none",
    meaning:
      "Sent only to GitHub. It allows more requests per hour. It also gives access to private repositories " +
      "that the token can read, and to the views and clones of repositories that it can push to. " +
      "Everyone who manages an owner of this service can then add these repositories as sources.",
  },
} as const satisfies Record<string, VariableSchema>;

export const MAIL_VARIABLES = {
  SMTP_URL: {
    type: "string",
    format: "smtp-url",
    mustBe:
      "an smtp:// or smtps:// URL with a host, such as smtps://user:password@mail.example.org (@ in a user or password is %40)",
    unset: "no mail is sent, and e-mail notifications cannot be created",
    meaning:
      "The mail server for [notifications](../how-to/notifications.md). With `smtp://` the connection is encrypted " +
      "if the server offers STARTTLS; `?requireTLS=true` requires it. Requires `MAIL_FROM`.",
  },
  MAIL_FROM: {
    type: "string",
    format: "sender",
    mustBe: "an e-mail address, or a name and an address such as Acme <stats@example.org> (RFC 5322)",
    unset: "no mail is sent",
    meaning: "The sender of all mails. Use a domain for which the mail server signs mails (DKIM).",
  },
} as const satisfies Record<string, VariableSchema>;

const DAYS = { type: "string", format: "days", mustBe: "a whole number of days from 1 to 36500" } as const;

export const RETENTION_VARIABLES = {
  EVENTS_RETENTION_DAYS: {
    ...DAYS,
    unset: "forever",
    meaning:
      "How long events are kept. Expired events are deleted by whole months and cannot be " +
      "restored; breakdowns are kept. Set the same value for every role; see " +
      "[retention](../operate/retention.md#closed-months).",
  },
  IMPORT_LOGS_RETENTION_DAYS: {
    ...DAYS,
    default: "90",
    meaning: "How long import log entries are kept.",
  },
  REJECTED_LINES_RETENTION_DAYS: {
    ...DAYS,
    default: "90",
    meaning:
      "How long the texts of rejected lines (which can contain IP addresses) are kept. They are never " +
      "kept longer than their log entries.",
  },
  DELIVERIES_RETENTION_DAYS: {
    ...DAYS,
    default: "30",
    meaning: "How long webhook deliveries are kept.",
  },
  AUDIT_RETENTION_DAYS: {
    ...DAYS,
    unset: "forever",
    meaning: "How long audit log entries are kept.",
  },
  AUDIT_ACCESS_MAX: {
    type: "string",
    format: "audit-access",
    mustBe: "a whole number from 1 to 100000",
    default: "1000",
    meaning:
      "How many entries an owner's audit log keeps for each token and each of `export.read`, " +
      "`packages.export` and `user.sign-in-failed`; older ones are deleted. Other entries are not limited.",
  },
} as const satisfies Record<string, VariableSchema>;
