import { DEFAULT_QUOTAS } from "../../../../api/base/access/quotas.js";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { VARIABLES } from "../../../../deploy/config/variables.js";
import { parseConfig } from "../../../../deploy/config/config.js";
import { StartFailure } from "../../../../deploy/process/start-failure.js";

const KEY = Buffer.alloc(32, 7).toString("base64");
const STORES = {
  DATABASE_URL: "postgres://db/app",
  SECRET_KEY: KEY,
  CLICKHOUSE_URL: "https://ch",
  KAFKA_BROKERS: "k:9092",
};

test("an empty environment gives the documented defaults", () => {
  expect(parseConfig({})).toEqual({
    http: { host: "127.0.0.1", port: 8080 },
    collect: { host: "127.0.0.1", port: 8081, allowPrivateUpstreams: false },
    metrics: { host: "127.0.0.1", port: 9464 },
    dataDir: resolve("data"),
    roles: new Set(["api", "collect", "enrich", "jobs"]),
    tlsFiles: {},
    logCodec: "none",
    enrich: { workers: availableParallelism() },
    imports: { bytesMax: 21_474_836_480, backlogBytesMax: 4_294_967_296 },
    lookups: {},
    retention: { importLogsDays: 90, rejectedLinesDays: 90, deliveriesDays: 30 },
    auditAccessMax: 1_000,
    requestsPerSecond: 50,
    quotas: DEFAULT_QUOTAS,
    funnelSchedule: "0 * * * *",
    webhooks: { allowPrivateNetworks: false },
    sources: { isOn: true, schedule: "23 5 * * *", urls: {} },
    trustedProxies: [],
    corsOrigins: [],
    logLevel: "info",
    adminCommand: "maintainer-toolchain admin",
  });
});

test("a line to copy begins with what is there: npm in a clone, the program itself in an image", () => {
  expect(parseConfig({ npm_lifecycle_event: "start" }).adminCommand).toBe("npm run admin --");
  expect(parseConfig({}).adminCommand).toBe("maintainer-toolchain admin");
});

test("every variable reaches its place", () => {
  const config = parseConfig({
    HOST: "::",
    PORT: "0",
    COLLECT_PORT: "81",
    METRICS_PORT: "65535",
    DATA_DIR: "/var/lib/toolchain",
    ROLES: "api, jobs",
    DATABASE_URL: "postgres://app:word@db.example:5432/app",
    DATABASE_TLS: "ca=/etc/db-ca.pem",
    CLICKHOUSE_URL: "https://app:word@ch.example:8443/?database=x",
    CLICKHOUSE_TLS: "cert=/etc/client.pem, key=/etc/client.key",
    KAFKA_BROKERS: "k1.example:9092,k2.example:9092",
    LOG_CODEC: "brotli",
    KAFKA_CLIENT_ID: "downloads",
    KAFKA_TOPIC_PREFIX: "live.",
    KAFKA_PARTITIONS: "48",
    KAFKA_REPLICATION_FACTOR: "3",
    KAFKA_SESSION_TIMEOUT_MS: "10000",
    KAFKA_CREATE_TOPICS: "false",
    KAFKA_TLS: "ca=/etc/ca.pem",
    KAFKA_SASL_MECHANISM: "scram-sha-512",
    KAFKA_SASL_USERNAME: "app",
    KAFKA_SASL_PASSWORD: "word",
    SECRET_KEY: KEY,
    ENRICH_WORKERS: "3",
    IMPORT_BYTES_MAX: "512 MiB",
    IMPORT_BACKLOG_BYTES_MAX: "1GiB",
    CITY_MMDB: "city.mmdb",
    ASN_DB: "asn.csv",
    COMPANY_MMDB: "company.mmdb",
    ORGANIZATIONS_CSV: "organizations.csv",
    EVENTS_RETENTION_DAYS: "400",
    IMPORT_LOGS_RETENTION_DAYS: "60",
    REJECTED_LINES_RETENTION_DAYS: "7",
    DELIVERIES_RETENTION_DAYS: "14",
    AUDIT_RETENTION_DAYS: "730",
    AUDIT_ACCESS_MAX: "50",
    REQUESTS_PER_SECOND: "500",
    QUOTAS: "packages=5000",
    FUNNEL_SCHEDULE: "*/5 * * * *",
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: "true",
    SOURCES: "off",
    SOURCES_SCHEDULE: "0 4 * * *",
    SOURCES_URLS: "npm=http://127.0.0.1:9000/ pypi=http://127.0.0.1:9001/x",
    GITHUB_TOKEN: "of-github",
    PUBLIC_URL: "https://Stats.example.org:443/tools/",
    TRUSTED_PROXIES: "10.0.0.0/8, 192.0.2.1,2001:db8::/32",
    CORS_ORIGINS: "https://dashboard.example, http://127.0.0.1:3000",
    COLLECT_HOST: "Pixels.Example",
    COLLECT_ALLOW_PRIVATE_UPSTREAMS: "true",
    LOG_LEVEL: "debug",
  });
  expect(config).toEqual({
    http: { host: "::", port: 0 },
    collect: { host: "::", port: 81, publicHost: "pixels.example", allowPrivateUpstreams: true },
    metrics: { host: "::", port: 65535 },
    dataDir: "/var/lib/toolchain",
    roles: new Set(["api", "jobs"]),
    databaseUrl: "postgres://app:word@db.example:5432/app?sslrootcert=%2Fetc%2Fdb-ca.pem&sslmode=verify-full",
    clickhouseUrl:
      "https://app:word@ch.example:8443/?database=x&sslcert=%2Fetc%2Fclient.pem&sslkey=%2Fetc%2Fclient.key",
    tlsFiles: {
      DATABASE: { ca: "/etc/db-ca.pem" },
      CLICKHOUSE: { cert: "/etc/client.pem", key: "/etc/client.key" },
      KAFKA: { ca: "/etc/ca.pem" },
    },
    kafka: {
      brokers: ["k1.example:9092", "k2.example:9092"],
      clientId: "downloads",
      prefix: "live.",
      partitions: 48,
      replicationFactor: 3,
      sessionTimeoutMs: 10_000,
      createTopics: false,
      tls: { ca: "/etc/ca.pem" },
      sasl: { mechanism: "scram-sha-512", username: "app", password: "word" },
    },
    logCodec: "brotli",
    secretKey: Buffer.alloc(32, 7),
    enrich: { workers: 3 },
    imports: { bytesMax: 536_870_912, backlogBytesMax: 1_073_741_824 },
    lookups: {
      cityMmdb: "city.mmdb",
      asnDb: "asn.csv",
      companyMmdb: "company.mmdb",
      organizationsCsv: "organizations.csv",
    },
    retention: {
      eventsDays: 400,
      importLogsDays: 60,
      rejectedLinesDays: 7,
      deliveriesDays: 14,
      auditDays: 730,
    },
    auditAccessMax: 50,
    requestsPerSecond: 500,
    quotas: { ...DEFAULT_QUOTAS, packages: 5000 },
    funnelSchedule: "*/5 * * * *",
    webhooks: { allowPrivateNetworks: true },
    sources: {
      isOn: false,
      schedule: "0 4 * * *",
      urls: { npm: "http://127.0.0.1:9000", pypi: "http://127.0.0.1:9001/x" },
      githubToken: "of-github",
    },
    publicUrl: "https://stats.example.org/tools",
    trustedProxies: ["10.0.0.0/8", "192.0.2.1", "2001:db8::/32"],
    corsOrigins: ["https://dashboard.example", "http://127.0.0.1:3000"],
    logLevel: "debug",
    adminCommand: "maintainer-toolchain admin",
  });
});

test("brokers alone mean no TLS, no passwords, and topics that are created", () => {
  expect(parseConfig({ KAFKA_BROKERS: "127.0.0.1:9092" }).kafka).toEqual({
    brokers: ["127.0.0.1:9092"],
    clientId: "maintainer-toolchain",
    prefix: "",
    partitions: 24,
    sessionTimeoutMs: 30_000,
    createTopics: true,
  });
});

test("chunks are compressed on Kafka, and on the embedded log only with LOG_CODEC", () => {
  const codecOf = (env: Record<string, string>) => parseConfig(env).logCodec;
  expect(codecOf({ KAFKA_BROKERS: "k1:9092" })).toBe("lz4");
  expect(codecOf({ KAFKA_BROKERS: "k1:9092", LOG_CODEC: "none" })).toBe("none");
  expect(codecOf({ LOG_CODEC: "lz4" })).toBe("lz4");
});

test("an empty variable counts as not set", () => {
  const nothing = Object.fromEntries(Object.keys(VARIABLES).map((name) => [name, ""]));
  expect(parseConfig(nothing)).toEqual(parseConfig({}));
});

const PORT = "must be a port from 0 to 65535 (0 selects a free port)";

const SIZE = "must be a size such as 20GiB (a whole number of bytes, KiB, MiB, GiB or TiB)";

const PATH = "must be the path of a";
const HOST = "must be a host name or an IP address";
const ROLES = "must be one or more of api, collect, enrich, jobs, separated by commas";
const WORKERS = "must be a whole number from 1 to 256";
const TLS =
  "must be true, or the paths of PEM files such as ca=/etc/ca.pem,cert=/etc/client.pem,key=/etc/client.key " +
  "(cert and key only together)";
const BROKERS = "must be host:port pairs separated by commas";
const ORIGINS = "must be * or origins separated by commas, such as https://dashboard.example";
const PROXIES = "must be IP addresses or CIDR ranges separated by commas, such as 10.0.0.0/8";

test.each([
  ["PORT", "65536", PORT],
  ["COLLECT_PORT", "http", PORT],
  ["METRICS_PORT", "-1", PORT],
  ["PORT", "80.5", PORT],
  ["HOST", "not a host", HOST],
  ["HOST", "http://x", HOST],
  ["CORS_ORIGINS", "https://dashboard.example/app", ORIGINS],
  ["DATA_DIR", "  ", `${PATH} folder`],
  ["ROLES", "api,cook,chef", ROLES, " (not a role: cook, chef)"],
  ["ROLES", ",", ROLES, " (not a role: nothing)"],
  ["KAFKA_BROKERS", "k1", BROKERS],
  ["KAFKA_BROKERS", "k1:0", BROKERS],
  ["KAFKA_SESSION_TIMEOUT_MS", "30s", "must be a whole number of milliseconds from 1000 to 300000"],
  [
    "SOURCES_URLS",
    "nmp=http://127.0.0.1:9000",
    "must be http:// or https:// URLs by kind, separated by spaces, such as npm=https://npm.example.org " +
      "(kinds: npm, pypi, docker-hub, github-releases, crates, rubygems, homebrew)",
  ],
  ["LOG_CODEC", "gzip", "must be one of none, lz4, brotli"],
  ["KAFKA_TLS", "false", TLS],
  ["DATABASE_TLS", "/etc/ca.pem", TLS],
  ["DATABASE_TLS", "ca=", TLS],
  ["DATABASE_TLS", "ca=/etc/ca.pem,crt=/etc/client.pem", TLS],
  ["CLICKHOUSE_TLS", "cert=/etc/client.pem", TLS],
  ["CLICKHOUSE_TLS", "key=/etc/client.key", TLS],
  ["ENRICH_WORKERS", "0", WORKERS],
  ["ENRICH_WORKERS", "two", WORKERS],
  ["IMPORT_BYTES_MAX", "0", SIZE],
  ["IMPORT_BYTES_MAX", "20GB", SIZE],
  ["IMPORT_BACKLOG_BYTES_MAX", "4 gigabytes", SIZE],
  ["CITY_MMDB", " ", `${PATH} file`],
  ["FUNNEL_SCHEDULE", "hourly", 'must be a cron expression such as "0 * * * *"'],
  ["WEBHOOK_ALLOW_PRIVATE_NETWORKS", "yes", "must be true or false"],
  ["COLLECT_ALLOW_PRIVATE_UPSTREAMS", "1", "must be true or false"],
  ["TRUSTED_PROXIES", "10.0.0.0/33", PROXIES],
  ["COLLECT_HOST", "a_b.example", "must be a host name"],
  ["LOG_LEVEL", "verbose", "must be one of trace, debug, info, warn, error, fatal, silent"],
])("%s=%s stops the start with a sentence", (name, value, must, why = "") => {
  expect(faultOf({ ...STORES, [name]: value })).toBe(`${name} ${must}; it is "${value}"${why}`);
});

test("every invalid variable is named at once", () => {
  expect(faultOf({ PORT: "x", LOG_LEVEL: "y", ENRICH_WORKERS: "z" }).split("\n")).toHaveLength(3);
});

const OF_32 = "32 bytes in base64 (44 characters), for example from `openssl rand -base64 32`";
const KEY_OF_32 = `must be ${OF_32}`;

test("SECRET_KEY is required with DATABASE_URL", () => {
  const fault = faultOf({ DATABASE_URL: "postgres://db/app" });
  expect(fault).toBe(`SECRET_KEY is required because DATABASE_URL is set; set it to ${OF_32}`);
});

const MECHANISM = "one of plain, scram-sha-256, scram-sha-512";

test.each([
  [{ KAFKA_SASL_MECHANISM: "plain", KAFKA_SASL_USERNAME: "app" }, "KAFKA_SASL_PASSWORD", "a password"],
  [{ KAFKA_SASL_USERNAME: "app" }, "KAFKA_SASL_MECHANISM", MECHANISM],
  [{ KAFKA_SASL_PASSWORD: "word" }, "KAFKA_SASL_MECHANISM", MECHANISM],
  [{ KAFKA_TLS: "true", KAFKA_BROKERS: "" }, "KAFKA_BROKERS", "host:port pairs separated by commas"],
  [{ DATABASE_TLS: "ca=/etc/ca.pem" }, "DATABASE_URL", "a postgres:// URL"],
])("half of a connection to a store is refused: %o", (variables, lacking, must) => {
  const [given] = Object.keys(variables);
  const fault = faultOf({ KAFKA_BROKERS: "k:9092", ...variables });
  expect(fault).toBe(`${lacking} is required because ${given} is set; set it to ${must}`);
});

test.each([
  [{}, "CLICKHOUSE_URL"],
  [{ CLICKHOUSE_SHARDS: "a: https://a1:8443 http://a2:8123" }, "CLICKHOUSE_SHARDS"],
])("certificates for a ClickHouse that is reached without TLS are refused: %o", (variables, named) => {
  const given = { CLICKHOUSE_URL: "http://ch:8123", CLICKHOUSE_TLS: "ca=/etc/ca.pem", ...variables };
  expect(faultOf(given)).toBe(`${named} must contain only https:// URLs if CLICKHOUSE_TLS is set`);
});

describe("secrets are never printed", () => {
  const POSTGRES = "must be a postgres:// URL";
  const NO_URL = "not a URL (not shown because it may contain a password)";
  test.each([
    ["SECRET_KEY", "c2VjcmV0", KEY_OF_32, "8 characters long (not shown)"],
    ["SECRET_KEY", `${KEY}AAAA`, KEY_OF_32, "48 characters long (not shown)"],
    ["DATABASE_URL", "mysql://app:secret@db/app?password=secret", POSTGRES, '"mysql://db/app"'],
    ["DATABASE_URL", "app secret @db", POSTGRES, NO_URL],
    ["CLICKHOUSE_URL", "app:secret", "must be an http:// or https:// URL", '"app://..."'],
  ])("%s=%s", (name, value, must, is) => {
    expect(faultOf({ SECRET_KEY: KEY, [name]: value })).toBe(`${name} ${must}; it is ${is}`);
  });
});

test("parsing any environment ends in a configuration or in a StartFailure", () => {
  const env = fc.dictionary(fc.constantFrom(...Object.keys(VARIABLES)), fc.string());
  fc.assert(
    fc.property(env, (variables) => {
      expect([undefined, StartFailure]).toContain(failureOf(variables)?.constructor);
    }),
  );
});

test("every port from 0 to 65535 is accepted", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 65_535 }), (port) => {
      expect(parseConfig({ PORT: String(port) }).http.port).toBe(port);
    }),
  );
});

function failureOf(env: Record<string, string>): unknown {
  try {
    parseConfig(env);
    return undefined;
  } catch (error) {
    return error;
  }
}

function faultOf(env: Record<string, string>): string {
  return (failureOf(env) as Error).message;
}

test.each([
  ["https://stats.example.org", "https://stats.example.org"],
  ["http://[::1]:8080/", "http://[::1]:8080"],
  ["https://stats.example.org/a/b.c_d~e-f/", "https://stats.example.org/a/b.c_d~e-f"],
])("PUBLIC_URL=%s begins links as %s", (PUBLIC_URL, publicUrl) => {
  expect(parseConfig({ PUBLIC_URL }).publicUrl).toBe(publicUrl);
});

test.each([
  "stats.example.org",
  "ftp://stats.example.org",
  "https://",
  "https://user:hidden@stats.example.org",
  "https://stats.example.org/?a=1",
  "https://stats.example.org/#top",
  "https://stats.example.org//evil.example",
  "https://stats.example.org/a b",
  "https://stats.example.org/a>b",
  "https://stats.example.org/a\r\nb",
])("PUBLIC_URL=%j stops the start", (PUBLIC_URL) => {
  expect(faultOf({ PUBLIC_URL })).toMatch(
    /^PUBLIC_URL must be an http:\/\/ or https:\/\/ URL without a query, fragment or password, with a path/,
  );
  expect(faultOf({ PUBLIC_URL })).not.toContain("hidden");
});
