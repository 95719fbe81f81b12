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
    meaning: "The only host name that serves pixels and npm reports. No package can have it.",
  },
  DOMAIN_VERIFICATION: {
    type: "string",
    enum: ["off", "dns"],
    mustBe: "off or dns",
    default: "off",
    meaning:
      "With `dns`, a domain or the host of a docker package's `publicUrl` is served only once its owner has shown that it " +
      "is theirs, by a TXT record; see [whose host](collecting.md#whose-host). Set it where strangers have accounts.",
  },
  DNS_SERVERS: {
    type: "string",
    format: "dns-servers",
    mustBe: "IP addresses, with a port or without, separated by commas, such as 9.9.9.9,[2620:fe::fe]:53",
    unset: "those of the system",
    meaning: "The servers that are asked for the records of `DOMAIN_VERIFICATION`.",
  },
  COLLECT_ALLOW_PRIVATE_UPSTREAMS: {
    ...SWITCH,
    meaning:
      "Whether the index of a Python package, and the registry of an image for clients that are answered through this " +
      "host, may be at a private, loopback or other special address.",
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
      "How many packages, pixels and webhooks an owner may have, how many organizations an account may make and how many " +
      "additional tokens it may have, and how many domains and routes a package. Those left out keep their default. " +
      "What exists above a quota stays.",
  },
} as const satisfies Record<string, VariableSchema>;

const DAYS = { type: "string", format: "days", mustBe: "a whole number of days from 1 to 36500" } as const;

export const RETENTION_VARIABLES = {
  EVENTS_RETENTION_DAYS: {
    ...DAYS,
    unset: "for ever",
    meaning:
      "How long events are kept. They go by whole months, so up to 33 days later, and cannot be restored; the breakdowns " +
      "stay. Set it alike for every role; see [retention](retention.md#events).",
  },
  IMPORT_LOGS_RETENTION_DAYS: {
    ...DAYS,
    default: "90",
    meaning: "How long the entries of import logs are kept: what was wrong with which line.",
  },
  REJECTED_LINES_RETENTION_DAYS: {
    ...DAYS,
    default: "90",
    meaning:
      "How long the texts of refused lines are kept, at most as long as their entries. They hold addresses as they were sent.",
  },
  DELIVERIES_RETENTION_DAYS: {
    ...DAYS,
    default: "30",
    meaning: "How long webhook deliveries are kept, with the beginnings of the receivers' answers.",
  },
  AUDIT_RETENTION_DAYS: {
    ...DAYS,
    unset: "for ever",
    meaning: "How long entries of the audit log are kept.",
  },
} as const satisfies Record<string, VariableSchema>;
