import { DEFAULT_QUOTAS } from "../../api/base/access/quotas.js";
import { SOURCE_KINDS } from "../../schemas/contracts/source.js";
import { CODECS } from "../../schemas/records/raw-chunk.js";
import { LOG_LEVELS } from "../process/log.js";

export const ROLES = ["api", "collect", "enrich", "jobs"] as const;
export type Role = (typeof ROLES)[number];

/** One environment variable: how its value is parsed, and its documentation. */
export interface Variable {
  /** A name in the table FORMATS of config.ts. */
  format: string;
  /** Finishes the sentence "<VARIABLE> must be ...". */
  mustBe: string;
  /** The value that counts when the variable is not set. */
  default?: string;
  /** The effect of not setting it, where there is no default value. */
  unset?: string;
  /** Sentences for the reader of the configuration page and of `start --help`. */
  meaning: string;
  /** The roles that read it; all of them when absent. */
  roles?: readonly Role[];
  /** Variables that must be set if this one is. */
  requires?: readonly string[];
  /** Error messages never contain its value. */
  secret?: true;
  /** For the format `one-of`. */
  values?: readonly string[];
  /** For the format `whole`. */
  min?: number;
  max?: number;
}

const SWITCH = { format: "switch", mustBe: "true or false" } as const;
const PORT = { ...whole(0, 65_535), mustBe: "a port from 0 to 65535 (0 selects a free port)" };
const SIZE = {
  format: "bytes",
  mustBe: "a size such as 20GiB (a whole number of bytes, KiB, MiB, GiB or TiB)",
} as const;
const FILE = { format: "text", mustBe: "the path of a file" } as const;
const NAME = { format: "name", mustBe: "letters, digits, dots, hyphens and underscores" } as const;
const DAYS = whole(1, 36_500, "days");

function whole(min: number, max: number, unit?: string) {
  const mustBe = `a whole number${unit === undefined ? "" : ` of ${unit}`} from ${min} to ${max}`;
  return { format: "whole", min, max, mustBe } as const;
}

function oneOf<const Values extends readonly string[]>(values: Values) {
  return { format: "one-of", values, mustBe: `one of ${values.join(", ")}` } as const;
}

/** Every variable, under its heading on the configuration page. */
export const GROUPS = {
  Servers: {
    HOST: {
      format: "host",
      mustBe: "a host name or an IP address",
      default: "127.0.0.1",
      meaning: "The address that all three servers listen on. `::` means all addresses of the machine.",
    },
    PORT: {
      ...PORT,
      default: "8080",
      meaning: "Port of the API (management, imports and exports).",
      roles: ["api"],
    },
    COLLECT_PORT: {
      ...PORT,
      default: "8081",
      meaning: "Port of the collector (downloads, page views and reports).",
      roles: ["collect"],
    },
    METRICS_PORT: {
      ...PORT,
      default: "9464",
      meaning: "Port of `/metrics` for Prometheus, and of `/healthz` and `/readyz` for every role.",
    },
    PUBLIC_URL: {
      format: "public-url",
      mustBe:
        "an http:// or https:// URL without a query, fragment or password, with a path of letters, digits " +
        "and . _ ~ - only, such as https://stats.example.org/tools",
      unset:
        "links in responses use the request's host; messages contain links only if `HOST` is a loopback " +
        "address and `TRUSTED_PROXIES` is unset",
      meaning:
        "The URL at which people reach `PORT`, including a path prefix. All links in messages and " +
        "responses start with it, regardless of `Host` and forwarded headers. Set it if people use the " +
        "service from other machines.",
      roles: ["api", "jobs"],
    },
    TRUSTED_PROXIES: {
      format: "cidrs",
      mustBe: "IP addresses or CIDR ranges separated by commas, such as 10.0.0.0/8",
      unset: "no proxy is trusted",
      meaning:
        "Proxies whose `X-Forwarded-For`, `-Proto`, `-Host`, `-Port` and `-Prefix` are trusted, or " +
        "`Forwarded` (RFC 7239) if there is no `X-Forwarded-For`.",
      roles: ["api", "collect", "jobs"],
    },
    REQUESTS_PER_SECOND: {
      ...whole(1, 1_000_000),
      default: "50",
      meaning:
        "Requests per second that an account can send to the API and the dashboard, averaged over ten " +
        "seconds. A client IP address can send four times as many. Further requests get 429; see " +
        "[limits](api.md#limits).",
      roles: ["api"],
    },
    CORS_ORIGINS: {
      format: "origins",
      mustBe: "* or origins separated by commas, such as https://dashboard.example",
      unset: "none",
      meaning: "Origins whose pages can call the API, or `*` for all. Credentials are never allowed.",
      roles: ["api"],
    },
  },
  "Roles and stores": {
    DATA_DIR: {
      format: "text",
      mustBe: "the path of a folder",
      default: "data",
      meaning:
        "The folder of the embedded stores (mode 0700). Only one instance of the service can use it " +
        "at a time.",
    },
    ROLES: {
      format: "roles",
      mustBe: `one or more of ${ROLES.join(", ")}, separated by commas`,
      default: ROLES.join(","),
      meaning:
        "The parts of the service that this process runs. If `api`, `enrich` or `jobs` is missing, " +
        "`DATABASE_URL`, `CLICKHOUSE_URL` and `KAFKA_BROKERS` are required.",
    },
    DATABASE_URL: {
      format: "postgres-url",
      mustBe: "a postgres:// URL",
      unset: "PostgreSQL runs embedded, in `DATA_DIR`",
      meaning:
        "Your own PostgreSQL server. The URL accepts the parameters of " +
        "node-postgres, such as `?sslmode=verify-full` for TLS.",
      // A key created on one machine would leave a shared database unreadable to the next.
      requires: ["SECRET_KEY"],
      secret: true,
    },
    DATABASE_TLS: tls("PostgreSQL", "DATABASE_URL", "TLS if `DATABASE_URL` has an `sslmode` for it"),
    CLICKHOUSE_URL: {
      format: "http-url",
      mustBe: "an http:// or https:// URL",
      unset: "ClickHouse runs embedded, in `DATA_DIR`",
      meaning: "Your own ClickHouse server, 25.11 or newer. The URL's path is the name of the database.",
      secret: true,
    },
    CLICKHOUSE_TLS: tls("ClickHouse", "CLICKHOUSE_URL", "TLS if `CLICKHOUSE_URL` starts with `https`"),
    SECRET_KEY: {
      format: "secret-key",
      mustBe: "32 bytes in base64 (44 characters), for example from `openssl rand -base64 32`",
      unset: "created at the first start, in `DATA_DIR/secret-key`",
      meaning:
        "The key that encrypts stored secrets (such as API tokens and webhook secrets) and hashes tokens and " +
        "IP addresses. The service does not start with a different key, so keep a copy in a safe place, such " +
        "as your password manager.",
      secret: true,
    },
  },
  "ClickHouse cluster": {
    CLICKHOUSE_SHARDS: {
      format: "shards",
      mustBe:
        "shards with the URLs of their servers, such as a: http://a1:8123 http://a2:8123; b: http://b1:8123",
      unset: "the single server of `CLICKHOUSE_URL`",
      meaning:
        "Shards and their replicas. User, password and database come from `CLICKHOUSE_URL`; its host is " +
        "ignored. Never reuse the name of a shard for another one.",
      // The embedded server is one, and no part of a cluster.
      requires: ["CLICKHOUSE_URL"],
    },
    CLICKHOUSE_CLUSTER: {
      ...NAME,
      default: "maintainer",
      meaning: "Name of the cluster in every server's `remote_servers`.",
      requires: ["CLICKHOUSE_SHARDS"],
    },
    CLICKHOUSE_QUORUM: {
      ...whole(1, 100),
      unset: "the majority of a shard's servers",
      meaning: "How many servers of a shard must have a row before it counts as written.",
      requires: ["CLICKHOUSE_SHARDS"],
    },
  },
  Kafka: {
    KAFKA_BROKERS: {
      format: "brokers",
      mustBe: "host:port pairs separated by commas",
      unset: "the event log is embedded, in `DATA_DIR`",
      meaning: "The Kafka brokers of the event log.",
    },
    KAFKA_CLIENT_ID: {
      ...NAME,
      default: "maintainer-toolchain",
      meaning: "Client id of this service, for the brokers' logs and quotas.",
    },
    KAFKA_TOPIC_PREFIX: {
      ...NAME,
      unset: "no prefix",
      meaning: "Prefix of the topic name (`events.raw`) and of the consumer group (`enrich`).",
    },
    KAFKA_CREATE_TOPICS: {
      ...SWITCH,
      default: "true",
      meaning: "Whether the program creates a missing topic.",
    },
    KAFKA_PARTITIONS: {
      ...whole(1, 10_000),
      default: "24",
      meaning: "Number of partitions if the program creates the topic.",
    },
    KAFKA_REPLICATION_FACTOR: {
      ...whole(1, 100),
      unset: "3 if there are at least three brokers, otherwise the brokers' default",
      meaning:
        "Replication factor if the program creates the topic. With 2 or more, every record must be written " +
        "to two replicas (`min.insync.replicas`).",
    },
    KAFKA_SESSION_TIMEOUT_MS: {
      ...whole(1_000, 300_000, "milliseconds"),
      default: "30000",
      meaning: "If an enricher sends no heartbeat for this long, other enrichers take over its partitions.",
      roles: ["enrich"],
    },
    KAFKA_TLS: tls("the brokers", "KAFKA_BROKERS", "no TLS"),
    // Half of these would mean a connection that nobody wanted: without a password.
    KAFKA_SASL_MECHANISM: {
      ...oneOf(["plain", "scram-sha-256", "scram-sha-512"]),
      unset: "no authentication",
      meaning: "Authentication mechanism.",
      requires: ["KAFKA_BROKERS", "KAFKA_SASL_USERNAME", "KAFKA_SASL_PASSWORD"],
    },
    KAFKA_SASL_USERNAME: {
      format: "text",
      mustBe: "a user name",
      unset: "none",
      meaning: "User name for SASL authentication.",
      requires: ["KAFKA_SASL_MECHANISM"],
    },
    KAFKA_SASL_PASSWORD: {
      format: "any",
      mustBe: "a password",
      unset: "none",
      meaning: "Password for SASL authentication.",
      requires: ["KAFKA_SASL_MECHANISM"],
      secret: true,
    },
  },
  "Sign-in": {
    OIDC_ISSUER: {
      format: "issuer",
      mustBe: "an https:// URL (http:// only for 127.0.0.1, [::1] or localhost)",
      unset: "none",
      meaning:
        "The OpenID provider for signing in to the dashboard. It must have verified the user's email " +
        "address. Redirect URI: `<dashboard>/sign-in/openid/return`.",
      roles: ["api"],
      requires: ["OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET"],
    },
    OIDC_CLIENT_ID: {
      format: "text",
      mustBe: "the client id at the provider",
      unset: "none",
      meaning: "The service's client id.",
      roles: ["api"],
      requires: ["OIDC_ISSUER"],
    },
    OIDC_CLIENT_SECRET: {
      format: "any",
      mustBe: "the client secret issued by the provider",
      unset: "none",
      meaning: "The service's client secret.",
      roles: ["api"],
      requires: ["OIDC_ISSUER"],
      secret: true,
    },
  },
  Collector: {
    COLLECT_HOST: {
      format: "host",
      mustBe: "a host name",
      unset: "any host that is not a domain of a package, including hosts of Docker packages",
      meaning: "The only host on which pixels and npm reports are received. Packages cannot use this host.",
      roles: ["api", "collect"],
    },
    DOMAIN_VERIFICATION: {
      ...oneOf(["off", "dns"]),
      mustBe: "off or dns",
      default: "off",
      meaning:
        "With `dns`, the service serves a package's host only after its owner has verified it with a TXT " +
        "record; see [who owns a host](collector.md#who-owns-a-host). Use it if people you don't know have " +
        "accounts.",
      roles: ["api", "collect", "jobs"],
    },
    DNS_SERVERS: {
      format: "dns-servers",
      mustBe: "IP addresses, with or without a port, separated by commas, such as 9.9.9.9,[2620:fe::fe]:53",
      unset: "the system's DNS servers",
      meaning: "DNS servers for `DOMAIN_VERIFICATION`.",
      roles: ["api", "jobs"],
    },
    COLLECT_ALLOW_PRIVATE_UPSTREAMS: {
      ...SWITCH,
      default: "false",
      meaning:
        "Whether Python indexes and image registries can have private, loopback or other special IP addresses.",
      roles: ["collect"],
    },
  },
  Sources: {
    SOURCES: {
      ...oneOf(["on", "off"]),
      mustBe: "on or off",
      default: "on",
      meaning: "Whether the counts of [sources](../how-to/sources.md) are fetched from registries.",
      roles: ["jobs"],
    },
    SOURCES_SCHEDULE: {
      format: "cron",
      mustBe: 'a cron expression such as "23 5 * * *"',
      default: "23 5 * * *",
      meaning: "When counts are fetched, in UTC. Each source has its own time within the following hour.",
      roles: ["jobs"],
    },
    SOURCES_URLS: {
      format: "source-urls",
      mustBe: `http:// or https:// URLs by kind, separated by spaces, such as npm=https://npm.example.org (kinds: ${SOURCE_KINDS.join(", ")})`,
      unset: "the registries' own URLs",
      meaning:
        "URLs to use instead of the registries' own. Only these URLs can point to private hosts. Redirects " +
        "from them to another private host or port are not followed.",
      roles: ["api", "jobs"],
    },
    GITHUB_TOKEN: {
      format: "any",
      mustBe: "a GitHub token",
      unset: "none",
      meaning:
        "Sent only to GitHub. It allows more requests per hour. It also gives access to private repositories " +
        "that the token can read, and to the views and clones of repositories that it can push to. " +
        "Everyone who can manage a user or organization of this service can then add these repositories as sources.",
      roles: ["api", "jobs"],
      secret: true,
    },
  },
  Mail: {
    SMTP_URL: {
      format: "smtp-url",
      mustBe:
        "an smtp:// or smtps:// URL with a host, such as smtps://user:password@mail.example.org (@ in a user or password is %40)",
      unset: "no email is sent, and email notifications cannot be created",
      meaning:
        "The mail server for [notifications](../how-to/notifications.md). With `smtp://` the connection is encrypted " +
        "if the server offers STARTTLS; `?requireTLS=true` requires it.",
      roles: ["api", "jobs"],
      requires: ["MAIL_FROM"],
      secret: true,
    },
    MAIL_FROM: {
      format: "mailbox",
      mustBe: "an email address, or a name and an address such as Acme <stats@example.org> (RFC 5322)",
      unset: "no email is sent",
      meaning: "The sender of all emails. Use a domain for which the mail server signs emails (DKIM).",
      roles: ["api", "jobs"],
      requires: ["SMTP_URL"],
    },
  },
  Retention: {
    EVENTS_RETENTION_DAYS: {
      ...DAYS,
      unset: "forever",
      meaning:
        "How long events are kept. Expired events are deleted by whole months and cannot be " +
        "restored; breakdowns are kept. Set the same value for every role; see " +
        "[retention](../operate/retention.md#closed-months).",
      roles: ["api", "enrich", "jobs"],
    },
    IMPORT_LOGS_RETENTION_DAYS: {
      ...DAYS,
      default: "90",
      meaning: "How long import log entries are kept.",
      roles: ["jobs"],
    },
    REJECTED_LINES_RETENTION_DAYS: {
      ...DAYS,
      default: "90",
      meaning:
        "How long the texts of rejected lines (which can contain IP addresses) are kept. They are never " +
        "kept longer than their log entries.",
      roles: ["jobs"],
    },
    DELIVERIES_RETENTION_DAYS: {
      ...DAYS,
      default: "30",
      meaning: "How long webhook deliveries are kept.",
      roles: ["jobs"],
    },
    AUDIT_RETENTION_DAYS: {
      ...DAYS,
      unset: "forever",
      meaning: "How long audit log entries are kept.",
      roles: ["jobs"],
    },
    AUDIT_ACCESS_MAX: {
      ...whole(1, 100_000),
      default: "1000",
      meaning:
        "Maximum number of entries that an owner's audit log keeps per token and action, for the actions " +
        "`export.read`, `packages.export` and `user.sign-in-failed`; older entries are deleted. Other entries " +
        "are not limited.",
      roles: ["api"],
    },
  },
  Quotas: {
    QUOTAS: {
      format: "quotas",
      mustBe: `one or more of ${Object.keys(DEFAULT_QUOTAS).join(", ")}, each with its number, such as packages=5000,pixels=200`,
      default: Object.entries(DEFAULT_QUOTAS)
        .map(([name, max]) => `${name}=${max}`)
        .join(","),
      meaning:
        "Maximum number of records per owner (packages, pixels, webhooks, sources, annotations, " +
        "notifications), per account (organizations, access tokens) and per package (domains, routes). " +
        "Quotas that you omit keep their default. Existing records are never removed.",
      roles: ["api", "jobs"],
    },
  },
  "Processing and logging": {
    ENRICH_WORKERS: {
      ...whole(1, 256),
      unset: "the number of CPU cores",
      meaning: "Number of enrichment threads. In a container, set it to the number of the container's CPUs.",
      roles: ["enrich"],
    },
    LOG_CODEC: {
      ...oneOf(CODECS),
      unset: "`lz4` on Kafka, `none` on the embedded log",
      meaning:
        "Compression of lines in the event log. `lz4` reduces lines to about a quarter of their size. `brotli` " +
        "reduces them to about a sixth, but takes twice as long. You can change it at any time.",
      roles: ["api", "collect"],
    },
    IMPORT_BYTES_MAX: {
      ...SIZE,
      default: "20GiB",
      meaning: "Maximum size of the decompressed body of an import.",
      roles: ["api"],
    },
    IMPORT_BACKLOG_BYTES_MAX: {
      ...SIZE,
      default: "4GiB",
      meaning:
        "How much data of one owner's imports can wait for enrichment in the embedded event log. Above " +
        "this limit, that owner's uploads wait, and fail with 503 after two minutes; see [size " +
        "of the embedded event log](../operate/retention.md#size-of-the-embedded-event-log).",
      roles: ["api"],
    },
    CITY_MMDB: {
      ...FILE,
      unset: "the bundled DB-IP city database",
      meaning: "City database: an MMDB file from DB-IP or MaxMind.",
      roles: ["enrich"],
    },
    ASN_DB: {
      ...FILE,
      unset: "the bundled ip-location-db ASN table",
      meaning:
        "Network database: a CSV file from ip-location-db, or an MMDB file of MaxMind ASN or ISP, DB-IP " +
        "ASN, or IPinfo Lite (which includes the company's domain).",
      roles: ["enrich"],
    },
    COMPANY_MMDB: {
      ...FILE,
      unset: "none",
      meaning:
        "Company database, which takes precedence over the other databases: an MMDB file of MaxMind " +
        "Enterprise, ISP, Domain or Connection-Type, or IPinfo company.",
      roles: ["enrich"],
    },
    ORGANIZATIONS_CSV: {
      ...FILE,
      unset: "none",
      meaning:
        "Your own table of organizations (names, domains and kinds), which takes precedence over the " +
        "bundled table; see [companies](../how-to/companies.md).",
      roles: ["enrich"],
    },
    FUNNEL_SCHEDULE: {
      format: "cron",
      mustBe: 'a cron expression such as "0 * * * *"',
      default: "0 * * * *",
      meaning: "When funnel stages are updated, in UTC. If runs were missed, one run catches up at startup.",
      roles: ["jobs"],
    },
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: {
      ...SWITCH,
      default: "false",
      meaning: "Whether webhooks can be sent to IP addresses outside the public internet.",
      roles: ["api", "jobs"],
    },
    LOG_LEVEL: {
      ...oneOf(LOG_LEVELS),
      default: "info",
      meaning: "Minimum level of log lines.",
    },
  },
} as const satisfies Record<string, Record<string, Variable>>;

function tls(servers: string, address: string, unset: string) {
  return {
    format: "tls",
    mustBe:
      "true, or the paths of PEM files such as ca=/etc/ca.pem,cert=/etc/client.pem,key=/etc/client.key " +
      "(cert and key only together)",
    unset,
    meaning:
      `TLS for connections to ${servers}. \`ca\` contains the trusted certificate authorities; by default, and ` +
      "with `true`, they are those of the system. `cert` and `key` are the client certificate and its " +
      "private key, which must not be password-protected.",
    requires: [address],
  } as const;
}

type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

/** Every variable, without the headings. */
export const VARIABLES = Object.assign({}, ...Object.values(GROUPS)) as Intersection<
  (typeof GROUPS)[keyof typeof GROUPS]
>;

export type VariableName = keyof typeof VARIABLES;
