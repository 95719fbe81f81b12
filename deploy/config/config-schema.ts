import { CODECS } from "../../schemas/records/raw-chunk.js";
import { LOG_LEVELS } from "../process/log.js";
import { ROLES } from "./roles.js";
import { CLICKHOUSE_VARIABLES, KAFKA_VARIABLES, tlsVariables } from "./store-variables.js";
import {
  COLLECTION_VARIABLES,
  MAIL_VARIABLES,
  QUOTA_VARIABLES,
  RETENTION_VARIABLES,
  SOURCE_VARIABLES,
  SWITCH,
  type VariableSchema,
} from "./variables.js";

const PORT = {
  type: "string",
  format: "port",
  mustBe: "a port from 0 to 65535 (0 selects a free port)",
} as const;
const SIZE = {
  type: "string",
  format: "bytes",
  mustBe: "a size such as 20GiB (a whole number of bytes, KiB, MiB, GiB or TiB)",
} as const;
const FILE = { type: "string", format: "text", mustBe: "the path of a file" } as const;
const SERVERS = {
  HOST: {
    type: "string",
    format: "host",
    mustBe: "a host name or an IP address",
    default: "127.0.0.1",
    meaning: "The address that all three servers listen on. `::` means all addresses of the machine.",
  },
  PORT: { ...PORT, default: "8080", meaning: "The API: management, imports and exports." },
  COLLECT_PORT: { ...PORT, default: "8081", meaning: "The collector: downloads, page views and reports." },
  METRICS_PORT: {
    ...PORT,
    default: "9464",
    meaning: "`/metrics` for Prometheus, and `/healthz` and `/readyz` for every role.",
  },
  PUBLIC_URL: {
    type: "string",
    format: "public-url",
    mustBe: "an http:// or https:// URL of a host and a plain path, such as https://stats.example.org/tools",
    unset:
      "links in responses use the request's host; messages contain links only if `HOST` is a loopback " +
      "address and `TRUSTED_PROXIES` is unset",
    meaning:
      "The URL at which people reach `PORT`, including a path prefix. All links in messages and " +
      "responses start with it, regardless of `Host` and forwarded headers. Set it for the roles `api` " +
      "and `jobs` if people use the service from other machines.",
  },
  TRUSTED_PROXIES: {
    type: "string",
    format: "cidrs",
    mustBe: "IP addresses or CIDR ranges separated by commas, such as 10.0.0.0/8",
    unset: "no proxy is trusted",
    meaning:
      "Proxies whose `X-Forwarded-For`, `-Proto`, `-Host`, `-Port` and `-Prefix` are trusted, or " +
      "`Forwarded` (RFC 7239) if there is no `X-Forwarded-For`.",
  },
  REQUESTS_PER_SECOND: {
    type: "string",
    format: "rate",
    mustBe: "a whole number from 1 to 1000000",
    default: "50",
    meaning:
      "Requests per second that an account can send to the API and the dashboard, averaged over ten " +
      "seconds. A client IP address can send four times as many. Further requests get 429; see " +
      "[limits](api.md#limits).",
  },
  CORS_ORIGINS: {
    type: "string",
    format: "origins",
    mustBe: "* or origins separated by commas, such as https://dashboard.example",
    unset: "none",
    meaning: "Origins whose pages can call the API, or `*` for all. Credentials are never allowed.",
  },
} as const satisfies Record<string, VariableSchema>;

const STORES = {
  DATA_DIR: {
    type: "string",
    format: "text",
    mustBe: "the path of a folder",
    default: "data",
    meaning:
      "The folder of the embedded stores (mode 0700). Only one instance of the service can use it " +
      "at a time.",
  },
  ROLES: {
    type: "string",
    format: "roles",
    mustBe: `one or more of ${ROLES.join(", ")}, separated by commas`,
    default: ROLES.join(","),
    meaning:
      "The parts of the service that this process runs. If `api`, `enrich` or `jobs` is missing, " +
      "`DATABASE_URL`, `CLICKHOUSE_URL` and `KAFKA_BROKERS` are required.",
  },
  DATABASE_URL: {
    type: "string",
    format: "postgres-url",
    mustBe: "a postgres:// URL",
    unset: "PostgreSQL runs embedded, in `DATA_DIR`",
    meaning:
      "Your own PostgreSQL server. Requires `SECRET_KEY`. The URL accepts the parameters of " +
      "node-postgres, such as `?sslmode=verify-full` for TLS.",
  },
  ...tlsVariables("DATABASE", "PostgreSQL"),
  CLICKHOUSE_URL: {
    type: "string",
    format: "http-url",
    mustBe: "an http:// or https:// URL",
    unset: "ClickHouse runs embedded, in `DATA_DIR`",
    meaning: "Your own ClickHouse server, 25.11 or newer. The URL's path is the name of the database.",
  },
  ...tlsVariables("CLICKHOUSE", "ClickHouse"),
  SECRET_KEY: {
    type: "string",
    format: "secret-key",
    mustBe: "32 bytes in base64 (44 characters), for example from `openssl rand -base64 32`",
    unset: "created at the first start, in `DATA_DIR/secret-key`",
    meaning:
      "The key for tokens and for the client ids of events. You cannot change it later: keep a copy with " +
      "your passwords.",
  },
} as const satisfies Record<string, VariableSchema>;

const SIGN_IN = {
  OIDC_ISSUER: {
    type: "string",
    format: "issuer",
    mustBe: "an https:// URL (http:// only for 127.0.0.1, [::1] or localhost)",
    unset: "none",
    meaning:
      "The OpenID provider for signing in to the dashboard. It must have verified the user's e-mail " +
      "address. Redirect URI: `<dashboard>/sign-in/openid/return`.",
  },
  OIDC_CLIENT_ID: {
    type: "string",
    format: "text",
    mustBe: "the client id at the provider",
    unset: "none",
    meaning: "The service's client id.",
  },
  OIDC_CLIENT_SECRET: {
    type: "string",
    format: "password",
    mustBe: "the client secret issued by the provider",
    unset: "none",
    meaning: "The service's client secret.",
  },
} as const satisfies Record<string, VariableSchema>;

const PROCESSING = {
  ENRICH_WORKERS: {
    type: "string",
    format: "workers",
    mustBe: "a whole number from 1 to 256",
    unset: "the number of CPU cores",
    meaning: "Number of enrichment threads. In a container, set it to the number of the container's CPUs.",
  },
  LOG_CODEC: {
    type: "string",
    enum: CODECS,
    mustBe: `one of ${CODECS.join(", ")}`,
    unset: "`lz4` on Kafka, `none` on the embedded log",
    meaning:
      "Compression of lines in the event log. `lz4` reduces lines to about a quarter of their size. `brotli` " +
      "reduces them to about a sixth, but takes twice as long. You can change it at any time.",
  },
  IMPORT_BYTES_MAX: {
    ...SIZE,
    default: "20GiB",
    meaning: "Maximum size of the decompressed body of an import.",
  },
  IMPORT_BACKLOG_BYTES_MAX: {
    ...SIZE,
    default: "4GiB",
    meaning:
      "How much data of one owner's imports can wait for enrichment in the embedded event log. Above " +
      "this limit, that owner's uploads wait, and fail with 503 after two minutes; see [size " +
      "of the embedded event log](../operate/retention.md#size-of-the-embedded-event-log).",
  },
  CITY_MMDB: {
    ...FILE,
    unset: "the bundled DB-IP city database",
    meaning: "City database: an MMDB file from DB-IP or MaxMind.",
  },
  ASN_DB: {
    ...FILE,
    unset: "the bundled ip-location-db ASN table",
    meaning:
      "Network database: a CSV file from ip-location-db, or an MMDB file of MaxMind ASN or ISP, DB-IP " +
      "ASN, or IPinfo Lite (which includes the company's domain).",
  },
  COMPANY_MMDB: {
    ...FILE,
    unset: "none",
    meaning:
      "Company database, which takes precedence over the other databases: an MMDB file of MaxMind " +
      "Enterprise, ISP, Domain or Connection-Type, or IPinfo company.",
  },
  ORGANIZATIONS_CSV: {
    ...FILE,
    unset: "none",
    meaning:
      "Your own table of organizations (names, domains and kinds), which takes precedence over the " +
      "bundled table; see [companies](../how-to/companies.md).",
  },
  FUNNEL_SCHEDULE: {
    type: "string",
    format: "cron",
    mustBe: 'a cron expression such as "0 * * * *"',
    default: "0 * * * *",
    meaning: "When funnel stages are updated, in UTC. If runs were missed, one run catches up at startup.",
  },
  WEBHOOK_ALLOW_PRIVATE_NETWORKS: {
    ...SWITCH,
    meaning: "Whether webhooks can be sent to IP addresses outside the public internet.",
  },
  LOG_LEVEL: {
    type: "string",
    enum: LOG_LEVELS,
    mustBe: `one of ${LOG_LEVELS.join(", ")}`,
    default: "info",
    meaning: "Minimum level of log lines.",
  },
} as const satisfies Record<string, VariableSchema>;

export const SECTIONS: Record<string, Record<string, VariableSchema>> = {
  Servers: SERVERS,
  "Roles and stores": STORES,
  "ClickHouse cluster": CLICKHOUSE_VARIABLES,
  Kafka: KAFKA_VARIABLES,
  "Sign-in": SIGN_IN,
  Collector: COLLECTION_VARIABLES,
  Sources: SOURCE_VARIABLES,
  Mail: MAIL_VARIABLES,
  Retention: RETENTION_VARIABLES,
  Quotas: QUOTA_VARIABLES,
  "Processing and logging": PROCESSING,
};

export const VARIABLES = {
  ...SERVERS,
  ...STORES,
  ...CLICKHOUSE_VARIABLES,
  ...KAFKA_VARIABLES,
  ...SIGN_IN,
  ...COLLECTION_VARIABLES,
  ...SOURCE_VARIABLES,
  ...MAIL_VARIABLES,
  ...RETENTION_VARIABLES,
  ...QUOTA_VARIABLES,
  ...PROCESSING,
};

export type VariableName = keyof typeof VARIABLES;
export type Variables = Partial<Record<VariableName, string>>;

type DefaultName = {
  [Name in VariableName]: (typeof VARIABLES)[Name] extends { default: string } ? Name : never;
}[VariableName];

export const DEFAULTS = Object.fromEntries(
  Object.entries<VariableSchema>(VARIABLES).flatMap(([name, schema]) =>
    schema.default === undefined ? [] : [[name, schema.default]],
  ),
) as Record<DefaultName, string>;
