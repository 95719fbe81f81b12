import { isIP } from "node:net";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { validate as isCron } from "node-cron";
import { parseQuotas } from "../../api/base/access/quotas.js";
import { SOURCE_KINDS, type SourceKind } from "../../schemas/contracts/source.js";
import { isHttpUrl, parseBytes } from "../../schemas/formats.js";
import { isMailbox } from "../../schemas/mailbox.js";
import type { Codec } from "../../schemas/records/raw-chunk.js";
import { adminCommandFor } from "../process/admin-command.js";
import { mistypedVariables } from "../process/mistyped-variables.js";
import { StartFailure } from "../process/start-failure.js";
import { type TlsFiles, parseTlsFiles, withTlsFiles } from "../process/tls-files.js";
import { ROLES, type Role, VARIABLES, type Variable, type VariableName } from "./variables.js";

type Environment = Readonly<Record<string, string | undefined>>;

/** The configuration from the environment. An absent store is embedded, absent data bundled, an absent option off. */
export type Config = Readonly<ReturnType<typeof arrange>>;

export type ClickHouseCluster = NonNullable<Config["clickhouseCluster"]>;
export type KafkaConfig = NonNullable<Config["kafka"]>;

/**
 * An empty variable counts as not set. Throws StartFailure naming every invalid variable, its rule and its
 * value, never a secret, and every name that looks mistyped.
 */
export function parseConfig(env: Environment): Config {
  const { values, faults } = readValues(env);
  faults.push(...clusterFaults(values), ...mistypedVariables(env, NAMES));
  if (faults.length > 0) throw new StartFailure(faults.join("\n"));
  // Without a fault, every variable with a default has a value.
  return arrange(values as Values, env);
}

function arrange(values: Values, env: Environment) {
  const { HOST: host } = values;
  const dataDir = resolve(values.DATA_DIR);
  return given({
    http: { host, port: values.PORT },
    collect: given({
      host,
      port: values.COLLECT_PORT,
      /** The only host name that serves pixels and npm reports; any other host when absent. */
      publicHost: values.COLLECT_HOST?.toLowerCase(),
      allowPrivateUpstreams: values.COLLECT_ALLOW_PRIVATE_UPSTREAMS,
      verifiedHostsOnly: values.DOMAIN_VERIFICATION === "dns" || undefined,
    }),
    /** The DNS servers that hosts are verified with, instead of the system's. */
    dnsServers: values.DNS_SERVERS,
    metrics: { host, port: values.METRICS_PORT },
    dataDir,
    roles: values.ROLES,
    databaseUrl: when(values.DATABASE_URL, (url) => databaseUrl(url, values.DATABASE_TLS)),
    clickhouseUrl: when(values.CLICKHOUSE_URL, (url) => clickhouseUrl(url, values.CLICKHOUSE_TLS)),
    /** The files that connections to stores need, for a check at the start; `databaseUrl` and `clickhouseUrl` name them too. */
    tlsFiles: given({
      DATABASE: values.DATABASE_TLS,
      CLICKHOUSE: values.CLICKHOUSE_TLS,
      KAFKA: values.KAFKA_TLS,
    }),
    /** Several servers of ClickHouse. `clickhouseUrl` then has their user, password and database, and no host of use. */
    clickhouseCluster: when(values.CLICKHOUSE_SHARDS, (shards) =>
      given({
        /** In the servers' `remote_servers`. */
        name: values.CLICKHOUSE_CLUSTER,
        shards,
        /** Replicas that must have a row; the majority of a shard's servers when absent. */
        quorum: values.CLICKHOUSE_QUORUM,
      }),
    ),
    /** Replaces the embedded event log. */
    kafka: when(values.KAFKA_BROKERS, (brokers) =>
      given({
        /** `host:port` each. */
        brokers,
        clientId: values.KAFKA_CLIENT_ID,
        /** Starts the names of topics and groups. */
        prefix: values.KAFKA_TOPIC_PREFIX ?? "",
        partitions: values.KAFKA_PARTITIONS,
        replicationFactor: values.KAFKA_REPLICATION_FACTOR,
        /** After this time without a heartbeat, Kafka gives the partitions of a consumer to others. */
        sessionTimeoutMs: values.KAFKA_SESSION_TIMEOUT_MS,
        createTopics: values.KAFKA_CREATE_TOPICS,
        tls: values.KAFKA_TLS,
        sasl: when(values.KAFKA_SASL_MECHANISM, (mechanism) => ({
          mechanism,
          username: values.KAFKA_SASL_USERNAME ?? "",
          password: values.KAFKA_SASL_PASSWORD ?? "",
        })),
      }),
    ),
    openid: when(values.OIDC_ISSUER, (issuer) => ({
      issuer,
      clientId: values.OIDC_CLIENT_ID ?? "",
      clientSecret: values.OIDC_CLIENT_SECRET ?? "",
    })),
    logCodec: values.LOG_CODEC ?? DEFAULT_CODECS[values.KAFKA_BROKERS === undefined ? "embedded" : "kafka"],
    secretKey: values.SECRET_KEY,
    enrich: { workers: values.ENRICH_WORKERS ?? availableParallelism() },
    /** `bytesMax`: the limit for the decompressed body of one import; `backlogBytesMax`: see `awaitRoom`. */
    imports: { bytesMax: values.IMPORT_BYTES_MAX, backlogBytesMax: values.IMPORT_BACKLOG_BYTES_MAX },
    /** Paths of MMDB files (`asnDb` also CSV) that replace the bundled data, and of a CSV that adds to it. */
    lookups: given({
      cityMmdb: values.CITY_MMDB,
      asnDb: values.ASN_DB,
      companyMmdb: values.COMPANY_MMDB,
      organizationsCsv: values.ORGANIZATIONS_CSV,
    }),
    /** For how many days each kind of data is kept; without a number for ever. */
    retention: given({
      eventsDays: values.EVENTS_RETENTION_DAYS,
      importLogsDays: values.IMPORT_LOGS_RETENTION_DAYS,
      rejectedLinesDays: values.REJECTED_LINES_RETENTION_DAYS,
      deliveriesDays: values.DELIVERIES_RETENTION_DAYS,
      auditDays: values.AUDIT_RETENTION_DAYS,
    }),
    auditAccessMax: values.AUDIT_ACCESS_MAX,
    quotas: values.QUOTAS,
    funnelSchedule: values.FUNNEL_SCHEDULE,
    webhooks: { allowPrivateNetworks: values.WEBHOOK_ALLOW_PRIVATE_NETWORKS },
    sources: given({
      isOn: values.SOURCES === "on",
      schedule: values.SOURCES_SCHEDULE,
      urls: values.SOURCES_URLS ?? {},
      githubToken: values.GITHUB_TOKEN,
    }),
    /** The mail server and the sender. */
    mail: when(values.SMTP_URL, (url) => ({ url, from: values.MAIL_FROM ?? "" })),
    /** The address at which people reach the API, without a slash at its end. */
    publicUrl: values.PUBLIC_URL,
    /** Addresses or CIDR ranges whose `X-Forwarded-For` is trusted. */
    trustedProxies: values.TRUSTED_PROXIES ?? [],
    /** Of an account; see `limitRequests`. */
    requestsPerSecond: values.REQUESTS_PER_SECOND,
    /** Origins whose pages may call the API; `*` for all. */
    corsOrigins: values.CORS_ORIGINS ?? [],
    logLevel: values.LOG_LEVEL,
    /** The words before an `admin` command, for lines that people copy. */
    adminCommand: adminCommandFor(env, { dataDir }),
  });
}

type Given<Settings> = {
  [Name in keyof Settings as undefined extends Settings[Name] ? never : Name]: Settings[Name];
} & {
  [Name in keyof Settings as undefined extends Settings[Name] ? Name : never]?: Exclude<
    Settings[Name],
    undefined
  >;
};

/** Without those that are undefined. */
function given<Settings extends object>(settings: Settings): Given<Settings> {
  const pairs = Object.entries(settings).filter(([, value]) => value !== undefined);
  return Object.fromEntries(pairs) as Given<Settings>;
}

function when<Value, Made>(value: Value | undefined, make: (value: Value) => Made): Made | undefined {
  return value === undefined ? undefined : make(value);
}

function databaseUrl(url: string, tls: TlsFiles | undefined): string {
  if (tls === undefined) return url;
  const whole = new URL(withTlsFiles(url, tls));
  whole.searchParams.set("sslmode", "verify-full");
  return whole.href;
}

function clickhouseUrl(url: string, tls: TlsFiles | undefined): string {
  return tls === undefined ? url : withTlsFiles(url, tls);
}

/**
 * LZ4 costs less than kafkajs and a broker spend on the bytes that it saves; the embedded log only copies
 * bytes to LMDB. `bench --log kafka` compares them.
 */
export const DEFAULT_CODECS = { embedded: "none", kafka: "lz4" } as const satisfies Record<string, Codec>;

const NAMES = Object.keys(VARIABLES) as VariableName[];

/** What each format reads from a text; undefined for a text that is not of the format. */
const FORMATS = {
  any: (text: string) => text,
  text: (text: string) => where(text.trim() !== "", text),
  name: (text: string) => where(/^[A-Za-z0-9._-]{1,100}$/.test(text), text),
  whole: (text: string, { min = 0, max = 0 }: Variable) => where(isWhole(text, { min, max }), Number(text)),
  switch: (text: string) => where(text === "true" || text === "false", text === "true"),
  "one-of": (text: string, { values = [] }: Variable) => where(values.includes(text), text),
  bytes: parseBytes,
  cron: (text: string) => where(isCron(text), text),
  host: (text: string) => where(isHost(text), text),
  brokers: (text: string) => listOf(text, isBroker),
  cidrs: (text: string) => listOf(text, isCidr),
  origins: (text: string) => listOf(text, isOrigin),
  "dns-servers": (text: string) => listOf(text, isDnsServer),
  roles: (text: string) => {
    const roles = listOf(text, isRole);
    return roles && new Set(roles as Role[]);
  },
  shards: (text: string) => {
    const shards = parseShards(text);
    return typeof shards === "string" ? undefined : shards;
  },
  quotas: parseQuotas,
  tls: parseTlsFiles,
  "secret-key": (text: string) => where(/^[A-Za-z0-9+/_-]{43}=?$/.test(text), Buffer.from(text, "base64")),
  mailbox: (text: string) => where(isMailbox(text), text),
  issuer: (text: string) => where(isIssuer(text), text),
  "http-url": (text: string) => where(isUrl(text, ["http:", "https:"]), text),
  "postgres-url": (text: string) => where(isUrl(text, ["postgres:", "postgresql:"]), text),
  "smtp-url": (text: string) =>
    where(isUrl(text, ["smtp:", "smtps:"]) && new URL(text).hostname !== "", text),
  "public-url": parsePublicUrl,
  "source-urls": parseSourceUrls,
};

type Parsed<Declared> = Declared extends { values: readonly (infer Value)[] }
  ? Value
  : Declared extends { format: infer Format extends keyof typeof FORMATS }
    ? Exclude<ReturnType<(typeof FORMATS)[Format]>, undefined>
    : never;

/** The value of every variable; undefined for one that is not set and has no default. */
type Values = {
  readonly [Name in VariableName]:
    | Parsed<(typeof VARIABLES)[Name]>
    | ((typeof VARIABLES)[Name] extends { default: string } ? never : undefined);
};

function where<Value>(isRight: boolean, value: Value): Value | undefined {
  return isRight ? value : undefined;
}

function readValues(env: Environment) {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const name of NAMES) {
    const declared: Variable = VARIABLES[name];
    const text = env[name] || declared.default;
    if (text === undefined) continue;
    values[name] = FORMATS[declared.format as keyof typeof FORMATS](text, declared);
    if (values[name] === undefined)
      faults.push(`${name} must be ${declared.mustBe}; it is ${shown(declared, text)}`);
    if (env[name]) faults.push(...missingFaults(name, env));
  }
  return { values: values as Partial<Values>, faults };
}

function missingFaults(name: VariableName, env: Environment): string[] {
  const { requires = [] }: Variable = VARIABLES[name];
  return requires
    .filter((required) => !env[required])
    .map(
      (required) =>
        `${required} is required because ${name} is set; set it to ${VARIABLES[required as VariableName].mustBe}`,
    );
}

function clusterFaults(values: Partial<Values>): string[] {
  const { CLICKHOUSE_SHARDS: shards, CLICKHOUSE_QUORUM: quorum, CLICKHOUSE_URL: url } = values;
  // More replicas than a shard has would never have a row.
  const small = shards?.filter(({ servers }) => quorum !== undefined && servers.length < quorum) ?? [];
  const faults = small.map(
    ({ name, servers }) =>
      `CLICKHOUSE_QUORUM must not exceed the number of servers in any shard; it is "${quorum}", but ` +
      `shard ${name} has only ${servers.length}`,
  );
  // Certificates without TLS would mean a connection that anybody can read.
  const servers = shards?.flatMap((shard) => shard.servers) ?? (url === undefined ? [] : [url]);
  if (
    values.CLICKHOUSE_TLS !== undefined &&
    !servers.every((server) => new URL(server).protocol === "https:")
  )
    faults.push(
      `${shards === undefined ? "CLICKHOUSE_URL" : "CLICKHOUSE_SHARDS"} must contain only https:// URLs if ` +
        "CLICKHOUSE_TLS is set",
    );
  return faults;
}

/** The value in the message about it, without passwords. */
function shown({ format, secret }: Variable, text: string): string {
  if (format === "shards") return `invalid (${parseShards(text) as string})`;
  if (format === "secret-key") return `${text.length} characters long (not shown)`;
  if (format.endsWith("-url")) return urlWithoutSecrets(text);
  if (secret) return "not shown";
  if (format !== "roles") return `"${text}"`;
  return `"${text}" (not a role: ${
    items(text)
      .filter((item) => !isRole(item))
      .join(", ") || "nothing"
  })`;
}

function urlWithoutSecrets(text: string): string {
  if (!URL.canParse(text)) return "not a URL (not shown because it may contain a password)";
  const { protocol, host, pathname } = new URL(text);
  return `"${protocol}//${host}${host === "" ? "..." : pathname}"`;
}

/** The entries of a comma-separated list, trimmed; empty ones do not count. */
function items(text: string): string[] {
  return text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

function listOf(text: string, isItem: (text: string) => boolean): readonly string[] | undefined {
  const list = items(text);
  return where(list.length > 0 && list.every(isItem), list);
}

function isRole(text: string): boolean {
  return ROLES.some((role) => role === text);
}

function isHost(text: string): boolean {
  return (
    isIP(text) !== 0 ||
    /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i.test(text)
  );
}

function isWhole(text: string, { min, max }: { min: number; max: number }): boolean {
  return /^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max;
}

function isUrl(text: string, protocols: readonly string[]): boolean {
  return URL.canParse(text) && protocols.includes(new URL(text).protocol);
}

/** Over plain http, somebody in between could sign in as anybody. */
function isIssuer(text: string): boolean {
  if (!isUrl(text, ["http:", "https:"])) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === "https:" || ["127.0.0.1", "[::1]", "localhost"].includes(hostname);
}

function isBroker(text: string): boolean {
  const colon = text.lastIndexOf(":");
  return isHost(text.slice(0, colon)) && isWhole(text.slice(colon + 1), { min: 1, max: 65_535 });
}

/** As browsers spell it: a scheme, a host and a port that is not the scheme's own, in lower case. */
function isOrigin(text: string): boolean {
  return text === "*" || (isUrl(text, ["http:", "https:"]) && new URL(text).origin === text);
}

function isCidr(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || isWhole(bits, { min: 0, max: family === 4 ? 32 : 128 });
}

function isDnsServer(text: string): boolean {
  const [, v6, v4 = text, port = "53"] = /^(?:\[([^\]]+)\]|([\d.]+))(?::(\d+))?$/.exec(text) ?? [];
  return isIP(v6 ?? v4) > 0 && isWhole(port, { min: 1, max: 65_535 });
}

/** Without a slash at its end. Undefined for a URL with more than a host, a port and a path of plain characters. */
function parsePublicUrl(text: string): string | undefined {
  if (!isHttpUrl(text) || /[?#]/.test(text)) return undefined;
  const { origin, pathname } = new URL(text);
  const path = pathname.replace(/\/$/, "");
  return /^(\/[A-Za-z0-9._~-]+)*$/.test(path) ? origin + path : undefined;
}

/** Undefined for anything but `kind=URL` for each. */
function parseSourceUrls(text: string): Readonly<Partial<Record<SourceKind, string>>> | undefined {
  const pairs = text
    .trim()
    .split(/\s+/)
    .map((each) => [each.split("=", 1)[0] ?? "", each.replace(/^[^=]*=?/, "")] as const);
  const isSound = pairs.every(
    ([kind, url]) => SOURCE_KINDS.some((each) => each === kind) && isUrl(url, ["http:", "https:"]),
  );
  return isSound
    ? Object.fromEntries(pairs.map(([kind, url]) => [kind, url.replace(/\/+$/, "")]))
    : undefined;
}

/** A shard of `CLICKHOUSE_SHARDS`: its name, and the URLs of its servers. */
export interface ListedShard {
  name: string;
  servers: string[];
}

/** The shards of `a: http://a1:8123 http://a2:8123; b: http://b1:8123`; a sentence part that names the fault otherwise. */
export function parseShards(text: string): readonly ListedShard[] | string {
  const shards = text
    .split(";")
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map(parseShard);
  if (shards.length === 0) return "it does not name a shard";
  return faultOf(shards) ?? shards;
}

function parseShard(text: string): ListedShard {
  const [, name = "", servers = ""] = /^([A-Za-z0-9_-]{1,32})\s*:(?:\s+|$)([^]*)$/.exec(text) ?? [];
  return { name, servers: servers.split(/\s+/).filter((url) => url !== "") };
}

function faultOf(shards: readonly ListedShard[]): string | undefined {
  const nameless = shards.findIndex(({ name }) => name === "");
  if (nameless >= 0)
    return (
      `shard ${nameless + 1} must begin with a name (up to 32 letters, digits, hyphens and ` +
      "underscores) and a colon"
    );
  for (const { name, servers } of shards) {
    if (servers.length === 0) return `shard ${name} has no server`;
    const wrong = servers.findIndex((url) => !isServer(url));
    if (wrong >= 0)
      return `server ${wrong + 1} of shard ${name} must be an http:// or https:// URL with only a host and a port`;
  }
  const name = repeated(shards.map((shard) => shard.name));
  if (name !== undefined) return `two shards have the name ${name}`;
  const server = repeated(shards.flatMap(({ servers }) => servers.map((url) => new URL(url).origin)));
  return server === undefined ? undefined : `the server ${server} is listed twice`;
}

/** A password in it would be one more than that of CLICKHOUSE_URL. */
function isServer(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, origin, href } = new URL(url);
  return ["http:", "https:"].includes(protocol) && href === `${origin}/`;
}

function repeated(values: readonly string[]): string | undefined {
  return values.find((value, index) => values.indexOf(value) < index);
}
