import { SOURCE_KINDS } from "../../schemas/contracts/source.js";
import { DEFAULT_QUOTAS } from "../../api/access/quotas.js";

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
    unset: "every host that is no package's domain, hosts of docker packages included",
    meaning: "The only host that serves pixels and npm reports. No package can have it.",
  },
  DOMAIN_VERIFICATION: {
    type: "string",
    enum: ["off", "dns"],
    mustBe: "off or dns",
    default: "off",
    meaning:
      "With `dns`, hosts of packages are served only once their owner has proved them by a TXT record; see [whose " +
      "host](collecting.md#whose-host). Set it where strangers have accounts.",
  },
  DNS_SERVERS: {
    type: "string",
    format: "dns-servers",
    mustBe: "IP addresses, with a port or without, separated by commas, such as 9.9.9.9,[2620:fe::fe]:53",
    unset: "those of the system",
    meaning: "The servers that `DOMAIN_VERIFICATION` asks.",
  },
  COLLECT_ALLOW_PRIVATE_UPSTREAMS: {
    ...SWITCH,
    meaning:
      "Whether Python indexes and image registries may be at private, loopback or other special addresses.",
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
      "What an owner (packages, pixels, webhooks, sources, annotations, notifications), an account (organizations, additional tokens) and a package " +
      "(domains, routes) may have. Those left out keep their default. What exists stays.",
  },
} as const satisfies Record<string, VariableSchema>;

export const SOURCE_VARIABLES = {
  SOURCES: {
    type: "string",
    enum: ["on", "off"],
    mustBe: "on or off",
    default: "on",
    meaning:
      "Whether registries are asked for the counts of [sources](sources.md). The role `jobs` asks them.",
  },
  SOURCES_SCHEDULE: {
    type: "string",
    format: "cron",
    mustBe: 'a cron expression such as "23 5 * * *"',
    default: "23 5 * * *",
    meaning: "When they are asked, in UTC: each source at its own time within the hour that follows.",
  },
  SOURCES_URLS: {
    type: "string",
    format: "source-urls",
    mustBe: `http:// or https:// URLs by kind, separated by spaces, such as npm=https://npm.example.org (kinds: ${SOURCE_KINDS.join(", ")})`,
    unset: "those of the registries",
    meaning:
      "Addresses that take the place of the registries' own. These alone may be private: a redirect from one of them to " +
      "another host or port inside is not followed.",
  },
  GITHUB_TOKEN: {
    type: "string",
    format: "password",
    mustBe: "a token of GitHub",
    unset: "none",
    meaning:
      "Sent to GitHub alone: more requests an hour, private repositories that it may read, and views and clones of those " +
      "that it may push to. Everybody who manages an owner here can then add these as sources.",
  },
} as const satisfies Record<string, VariableSchema>;

export const MAIL_VARIABLES = {
  SMTP_URL: {
    type: "string",
    format: "smtp-url",
    mustBe:
      "an smtp:// or smtps:// URL with a host, such as smtps://user:password@mail.example.org (@ in a user or password is %40)",
    unset: "no mail is sent, and notifications by e-mail are refused",
    meaning:
      "The mail server for [notifications](notifications.md). With `smtp://` the connection is encrypted where the server " +
      "offers STARTTLS; `?requireTLS=true` insists on it. Needs `MAIL_FROM`.",
  },
  MAIL_FROM: {
    type: "string",
    format: "sender",
    mustBe: "an e-mail address, or a name and an address such as Acme <stats@example.org> (RFC 5322)",
    unset: "no mail is sent",
    meaning: "The sender of every mail. Its domain should be one that the mail server signs for (DKIM).",
  },
} as const satisfies Record<string, VariableSchema>;

const DAYS = { type: "string", format: "days", mustBe: "a whole number of days from 1 to 36500" } as const;

export const RETENTION_VARIABLES = {
  EVENTS_RETENTION_DAYS: {
    ...DAYS,
    unset: "for ever",
    meaning:
      "How long events are kept, by whole months; they cannot be restored. Breakdowns stay. Set it alike for every " +
      "role; see [retention](retention.md#events).",
  },
  IMPORT_LOGS_RETENTION_DAYS: {
    ...DAYS,
    default: "90",
    meaning: "How long entries of import logs are kept.",
  },
  REJECTED_LINES_RETENTION_DAYS: {
    ...DAYS,
    default: "90",
    meaning:
      "How long texts of refused lines are kept, with addresses as they were sent; at most as long as their entries.",
  },
  DELIVERIES_RETENTION_DAYS: {
    ...DAYS,
    default: "30",
    meaning: "How long webhook deliveries are kept.",
  },
  AUDIT_RETENTION_DAYS: {
    ...DAYS,
    unset: "for ever",
    meaning: "How long entries of the audit log are kept.",
  },
  AUDIT_ACCESS_MAX: {
    type: "string",
    format: "audit-access",
    mustBe: "a whole number from 1 to 100000",
    default: "1000",
    meaning:
      "How many entries of `export.read`, of `packages.export` and of `user.sign-in-failed` each the audit log of an " +
      "owner keeps of each token: the newest. Other entries are not counted.",
  },
} as const satisfies Record<string, VariableSchema>;
