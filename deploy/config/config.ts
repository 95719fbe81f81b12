import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { DEFAULT_QUOTAS, type Quotas, parseQuotas } from "../../api/base/access/quotas.js";
import type { OpenIdOptions } from "../../api/base/identity/openid.js";
import type { SourceKind } from "../../schemas/contracts/source.js";
import { parseBytes } from "../../schemas/formats.js";
import type { Codec } from "../../schemas/records/raw-chunk.js";
import type { LogLevel } from "../process/log.js";
import { StartFailure } from "../process/start-failure.js";
import { adminCommandFor } from "../process/admin-command.js";
import { DEFAULTS, VARIABLES, type Variables } from "./config-schema.js";
import { type RetentionOptions, retentionOptions } from "./retention-options.js";
import type { Role } from "./roles.js";
import { mistypedVariables } from "../process/mistyped-variables.js";
import {
  type KafkaLogOptions,
  type ListedShard,
  type SaslMechanism,
  parseShards,
} from "./store-variables.js";
import {
  type TlsFiles,
  type TlsStore,
  allTlsFiles,
  clickhouseUrl,
  databaseUrl,
  tlsFiles,
} from "../process/tls-files.js";
import { items, parsePublicUrl, parseSourceUrls, variableFaults } from "./variable-faults.js";

interface Listen {
  host: string;
  port: number;
}

/** The configuration from the environment. An absent store is embedded, absent data bundled, an absent option off. */
export interface Config {
  http: Listen;
  collect: Listen & {
    /** The only host name that serves pixels and npm reports; any other host when absent. */
    publicHost?: string;
    allowPrivateUpstreams: boolean;
    verifiedHostsOnly?: boolean;
  };
  /** The DNS servers that hosts are verified with, instead of the system's. */
  dnsServers?: readonly string[];
  metrics: Listen;
  dataDir: string;
  roles: ReadonlySet<Role>;
  databaseUrl?: string;
  clickhouseUrl?: string;
  /** The files that connections to stores need, for a check at the start; `databaseUrl` and `clickhouseUrl` name them too. */
  tlsFiles?: Readonly<Partial<Record<TlsStore, TlsFiles>>>;
  /** Several servers of ClickHouse. `clickhouseUrl` then has their user, password and database, and no host of use. */
  clickhouseCluster?: ClickHouseCluster;
  /** Replaces the embedded event log. */
  kafka?: KafkaConfig;
  openid?: OpenIdOptions;
  logCodec: Codec;
  secretKey?: Buffer;
  enrich: { workers: number };
  /** `bytesMax`: the limit for the decompressed body of one import; `backlogBytesMax`: see `awaitRoom`. */
  imports: { bytesMax: number; backlogBytesMax: number };
  /** Paths of MMDB files (`asnDb` also CSV) that replace the bundled data, and of a CSV that adds to it. */
  lookups: { cityMmdb?: string; asnDb?: string; companyMmdb?: string; organizationsCsv?: string };
  retention: RetentionOptions;
  auditAccessMax: number;
  quotas: Quotas;
  funnelSchedule: string;
  webhooks: { allowPrivateNetworks: boolean };
  sources: {
    isOn: boolean;
    schedule: string;
    urls: Readonly<Partial<Record<SourceKind, string>>>;
    githubToken?: string;
  };
  /** The mail server and the sender. */
  mail?: { url: string; from: string };
  /** The address at which people reach the API, without a slash at its end. */
  publicUrl?: string;
  /** Addresses or CIDR ranges whose `X-Forwarded-For` is trusted. */
  trustedProxies: readonly string[];
  /** Of an account; see `limitRequests`. */
  requestsPerSecond: number;
  /** Origins whose pages may call the API; `*` for all. */
  corsOrigins: readonly string[];
  logLevel: LogLevel;
  /** The words before an `admin` command, for lines that people copy. */
  adminCommand: string;
}

/**
 * An empty variable counts as not set. Throws StartFailure naming every invalid variable, its rule and its
 * value, never a secret, and every name that looks mistyped.
 */
export function parseConfig(env: Record<string, string | undefined>): Config {
  const variables = { ...DEFAULTS, ...validVariables(env) };
  const host = variables.HOST;
  return {
    http: { host, port: Number(variables.PORT) },
    collect: {
      host,
      port: Number(variables.COLLECT_PORT),
      ...given("publicHost", variables.COLLECT_HOST?.toLowerCase()),
      allowPrivateUpstreams: variables.COLLECT_ALLOW_PRIVATE_UPSTREAMS === "true",
      ...given("verifiedHostsOnly", variables.DOMAIN_VERIFICATION === "dns" ? true : undefined),
    },
    ...given("dnsServers", variables.DNS_SERVERS && items(variables.DNS_SERVERS)),
    metrics: { host, port: Number(variables.METRICS_PORT) },
    dataDir: resolve(variables.DATA_DIR),
    roles: new Set(items(variables.ROLES) as Role[]),
    ...given("databaseUrl", databaseUrl(variables)),
    ...given("clickhouseUrl", clickhouseUrl(variables)),
    ...given("tlsFiles", allTlsFiles(variables)),
    ...given("clickhouseCluster", clickhouseCluster(variables)),
    ...given("kafka", variables.KAFKA_BROKERS === undefined ? undefined : kafkaConfig(variables)),
    ...given("openid", openidOptions(variables)),
    logCodec: logCodec(variables),
    ...given("secretKey", variables.SECRET_KEY && Buffer.from(variables.SECRET_KEY, "base64")),
    enrich: { workers: Number(variables.ENRICH_WORKERS ?? availableParallelism()) },
    imports: {
      bytesMax: parseBytes(variables.IMPORT_BYTES_MAX) ?? 0,
      backlogBytesMax: parseBytes(variables.IMPORT_BACKLOG_BYTES_MAX) ?? 0,
    },
    lookups: {
      ...given("cityMmdb", variables.CITY_MMDB),
      ...given("asnDb", variables.ASN_DB),
      ...given("companyMmdb", variables.COMPANY_MMDB),
      ...given("organizationsCsv", variables.ORGANIZATIONS_CSV),
    },
    retention: retentionOptions(variables),
    auditAccessMax: Number(variables.AUDIT_ACCESS_MAX),
    quotas: parseQuotas(variables.QUOTAS) ?? DEFAULT_QUOTAS,
    funnelSchedule: variables.FUNNEL_SCHEDULE,
    webhooks: { allowPrivateNetworks: variables.WEBHOOK_ALLOW_PRIVATE_NETWORKS === "true" },
    sources: {
      isOn: variables.SOURCES === "on",
      schedule: variables.SOURCES_SCHEDULE,
      urls: (variables.SOURCES_URLS && parseSourceUrls(variables.SOURCES_URLS)) || {},
      ...given("githubToken", variables.GITHUB_TOKEN),
    },
    ...given("mail", mailOptions(variables)),
    ...given("publicUrl", variables.PUBLIC_URL && parsePublicUrl(variables.PUBLIC_URL)),
    trustedProxies: items(variables.TRUSTED_PROXIES ?? ""),
    requestsPerSecond: Number(variables.REQUESTS_PER_SECOND),
    corsOrigins: items(variables.CORS_ORIGINS ?? ""),
    logLevel: variables.LOG_LEVEL as LogLevel,
    adminCommand: adminCommandFor(env, { dataDir: resolve(variables.DATA_DIR) }),
  };
}

function mailOptions({ SMTP_URL: url, MAIL_FROM: from = "" }: Variables): Config["mail"] {
  return url === undefined ? undefined : { url, from };
}

export interface ClickHouseCluster {
  /** In the servers' `remote_servers`. */
  name: string;
  shards: readonly ListedShard[];
  /** Replicas that must have a row; the majority of a shard's servers when absent. */
  quorum?: number;
}

function clickhouseCluster(variables: Variables & typeof DEFAULTS): ClickHouseCluster | undefined {
  const { CLICKHOUSE_SHARDS: text, CLICKHOUSE_QUORUM: quorum, CLICKHOUSE_CLUSTER: name } = variables;
  const shards = text === undefined ? undefined : parseShards(text);
  if (shards === undefined || typeof shards === "string") return undefined;
  return { name, shards, ...given("quorum", quorum && Number(quorum)) };
}

/**
 * LZ4 costs less than kafkajs and a broker spend on the bytes that it saves; the embedded log only copies
 * bytes to LMDB. `bench --log kafka` compares them.
 */
export const DEFAULT_CODECS = { embedded: "none", kafka: "lz4" } as const satisfies Record<string, Codec>;

function logCodec({ LOG_CODEC: chosen, KAFKA_BROKERS: brokers }: Variables): Codec {
  return (chosen as Codec | undefined) ?? DEFAULT_CODECS[brokers === undefined ? "embedded" : "kafka"];
}

function openidOptions(variables: Variables): OpenIdOptions | undefined {
  const {
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: clientId = "",
    OIDC_CLIENT_SECRET: clientSecret = "",
  } = variables;
  return issuer === undefined ? undefined : { issuer, clientId, clientSecret };
}

export type KafkaConfig = Omit<KafkaLogOptions, "tls"> & { tls?: TlsFiles };

function kafkaConfig(variables: Variables & typeof DEFAULTS): KafkaConfig {
  const { KAFKA_SASL_MECHANISM: mechanism } = variables;
  const tls = tlsFiles(variables, "KAFKA") ?? (variables.KAFKA_TLS === "true" ? {} : undefined);
  return {
    brokers: items(variables.KAFKA_BROKERS ?? ""),
    clientId: variables.KAFKA_CLIENT_ID,
    prefix: variables.KAFKA_TOPIC_PREFIX ?? "",
    partitions: Number(variables.KAFKA_PARTITIONS),
    ...given(
      "replicationFactor",
      variables.KAFKA_REPLICATION_FACTOR && Number(variables.KAFKA_REPLICATION_FACTOR),
    ),
    sessionTimeoutMs: Number(variables.KAFKA_SESSION_TIMEOUT_MS),
    createTopics: variables.KAFKA_CREATE_TOPICS !== "false",
    ...given("tls", tls),
    ...given(
      "sasl",
      mechanism && {
        mechanism: mechanism as SaslMechanism,
        username: variables.KAFKA_SASL_USERNAME ?? "",
        password: variables.KAFKA_SASL_PASSWORD ?? "",
      },
    ),
  };
}

function validVariables(env: Record<string, string | undefined>): Variables {
  const names = Object.keys(VARIABLES) as (keyof typeof VARIABLES)[];
  const set = names.flatMap((name) => (env[name] ? [[name, env[name]] as const] : []));
  const variables: Variables = Object.fromEntries(set);
  const faults = [...variableFaults(variables), ...mistypedVariables(env, names)];
  if (faults.length > 0) throw new StartFailure(faults.join("\n"));
  return variables;
}

function given<Name extends string, Value>(name: Name, value: Value | undefined | "") {
  return (value === undefined || value === "" ? {} : { [name]: value }) as { [name in Name]?: Value };
}

/** The roles between import and export. None of them is of use without the others. */
const PIPELINE = ["api", "enrich", "jobs"] as const;

/**
 * Embedded stores serve one process: with a role in another, the event log would have no reader or writer,
 * without an error. @throws StartFailure naming the stores that must be shared
 */
export function requireSharedStores({ roles, kafka, databaseUrl, clickhouseUrl }: Config): void {
  const elsewhere = PIPELINE.filter((role) => !roles.has(role));
  const stores = { KAFKA_BROKERS: kafka, DATABASE_URL: databaseUrl, CLICKHOUSE_URL: clickhouseUrl };
  const embedded = Object.entries(stores).flatMap(([variable, given]) =>
    given === undefined ? [variable] : [],
  );
  if (elsewhere.length === 0 || embedded.length === 0) return;
  throw new StartFailure(
    `ROLES does not include ${listed(elsewhere)}, but other processes cannot use this process's embedded ` +
      `stores: set ${listed(embedded)}, or add ${listed(elsewhere)} to ROLES`,
  );
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
