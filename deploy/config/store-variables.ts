import type { TlsOptions, TlsStore, TlsVariable } from "../process/tls-files.js";
import type { VariableSchema } from "./variables.js";

const FILE = { type: "string", format: "text", mustBe: "the path of a file" } as const;

export interface KafkaConnection {
  /** `host:port` each. */
  brokers: readonly string[];
  clientId: string;
  tls?: TlsOptions;
  sasl?: { mechanism: SaslMechanism; username: string; password: string };
}

const SASL_MECHANISMS = ["plain", "scram-sha-256", "scram-sha-512"] as const;
export type SaslMechanism = (typeof SASL_MECHANISMS)[number];

/** After this time without a heartbeat, Kafka gives the partitions of a consumer to others. */
export const SESSION_TIMEOUT_MS = 30_000;

export interface KafkaLogOptions extends KafkaConnection {
  /** Starts the names of topics and groups. */
  prefix: string;
  partitions: number;
  replicationFactor?: number;
  createTopics: boolean;
  sessionTimeoutMs?: number;
}

export const CLICKHOUSE_VARIABLES = {
  CLICKHOUSE_SHARDS: {
    type: "string",
    format: "shards",
    mustBe:
      "shards with the URLs of their servers, such as a: http://a1:8123 http://a2:8123; b: http://b1:8123",
    unset: "the single server of `CLICKHOUSE_URL`",
    meaning:
      "Shards and their replicas. User, password and database come from `CLICKHOUSE_URL`; its host is " +
      "ignored. Never reuse the name of a shard for another one.",
  },
  CLICKHOUSE_CLUSTER: {
    type: "string",
    format: "name",
    mustBe: "letters, digits, dots, hyphens and underscores",
    default: "maintainer",
    meaning: "Name of the cluster in every server's `remote_servers`.",
  },
  CLICKHOUSE_QUORUM: {
    type: "string",
    format: "replicas",
    mustBe: "a whole number from 1 to 100",
    unset: "the majority of a shard's servers",
    meaning: "How many servers of a shard must have a row before it counts as written.",
  },
} as const satisfies Record<string, VariableSchema>;

const NAME = {
  type: "string",
  format: "name",
  mustBe: "letters, digits, dots, hyphens and underscores",
} as const;
const SWITCH = { type: "string", enum: ["true", "false"], mustBe: "true or false" } as const;

/** The event log on Kafka. Each counts only together with `KAFKA_BROKERS`. */
export const KAFKA_VARIABLES = {
  KAFKA_BROKERS: {
    type: "string",
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
    type: "string",
    format: "partitions",
    mustBe: "a whole number from 1 to 10000",
    default: "24",
    meaning: "Number of partitions if the program creates the topic.",
  },
  KAFKA_REPLICATION_FACTOR: {
    type: "string",
    format: "replicas",
    mustBe: "a whole number from 1 to 100",
    unset: "3 if there are at least three brokers, otherwise the brokers' default",
    meaning:
      "Replication factor if the program creates the topic. With 2 or more, every record must be written " +
      "to two replicas (`min.insync.replicas`).",
  },
  KAFKA_SESSION_TIMEOUT_MS: {
    type: "string",
    format: "session",
    mustBe: "a whole number of milliseconds from 1000 to 300000",
    default: `${SESSION_TIMEOUT_MS}`,
    meaning: "If an enricher sends no heartbeat for this long, other enrichers take over its partitions.",
  },
  KAFKA_TLS: { ...SWITCH, default: "false", meaning: "Whether connections to the brokers are encrypted." },
  ...tlsVariables("KAFKA", "the brokers"),
  KAFKA_SASL_MECHANISM: {
    type: "string",
    enum: SASL_MECHANISMS,
    mustBe: `one of ${SASL_MECHANISMS.join(", ")}`,
    unset: "no authentication",
    meaning: "Authentication mechanism. Requires `KAFKA_SASL_USERNAME` and `KAFKA_SASL_PASSWORD`.",
  },
  KAFKA_SASL_USERNAME: {
    type: "string",
    format: "text",
    mustBe: "a user name",
    unset: "none",
    meaning: "For SASL authentication.",
  },
  KAFKA_SASL_PASSWORD: {
    type: "string",
    format: "password",
    mustBe: "a password",
    unset: "none",
    meaning: "For SASL authentication.",
  },
} as const satisfies Record<string, VariableSchema>;

/** A shard of `CLICKHOUSE_SHARDS`: its name, and the URLs of its servers. */
export interface ListedShard {
  name: string;
  servers: string[];
}

/** The shards of `a: http://a1:8123 http://a2:8123; b: http://b1:8123`; a sentence part that names the fault otherwise. */
export function parseShards(text: string): ListedShard[] | string {
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

/** `servers` names them in sentences. */
export function tlsVariables<Store extends TlsStore>(store: Store, servers: string) {
  const variables = {
    [`${store}_TLS_CA`]: {
      ...FILE,
      unset: "the system's certificate authorities",
      meaning: `A PEM file with the certificate authorities for ${servers}. Enables TLS.`,
    },
    [`${store}_TLS_CERT`]: {
      ...FILE,
      unset: "none",
      meaning: `A PEM file with the client certificate for ${servers}. Enables TLS.`,
    },
    [`${store}_TLS_KEY`]: {
      ...FILE,
      unset: "none",
      meaning:
        "A PEM file with the client certificate's private key. The key must not be password-protected.",
    },
  };
  return variables as Record<TlsVariable<Store>, VariableSchema>;
}
