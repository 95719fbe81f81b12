import { Ajv, type ErrorObject } from "ajv";
import { isIP } from "node:net";
import { validate as isCron } from "node-cron";
import { parseBytes } from "../../schemas/byte-size.js";
import { CODECS } from "../../schemas/records/raw-chunk.js";
import { SASL_MECHANISMS } from "../stores/kafka/kafka-client.js";
import { LOG_LEVELS } from "../process/log.js";

/** What a variable may hold. `description` finishes the sentence "<VARIABLE> must be ...". */
interface VariableSchema {
  type: "string";
  format?: string;
  enum?: readonly string[];
  description: string;
}

export const ROLES = ["api", "collect", "enrich", "jobs"] as const;
export type Role = (typeof ROLES)[number];

const PORT = {
  type: "string",
  format: "port",
  description: "a port from 0 to 65535 (0 takes any free one)",
} as const;
const NAME = "letters, digits, dots, hyphens and underscores";
const FILE = { type: "string", format: "text", description: "the path of a file" } as const;

/** Every variable that the program reads, in the order of the documentation. */
export const VARIABLES = {
  HOST: { type: "string", format: "host", description: "a host name or an IP address" },
  PORT,
  COLLECT_PORT: PORT,
  METRICS_PORT: PORT,
  DATA_DIR: { type: "string", format: "text", description: "the path of a folder" },
  ROLES: {
    type: "string",
    format: "roles",
    description: `one or more of ${ROLES.join(", ")}, separated by commas`,
  },
  DATABASE_URL: { type: "string", format: "postgres-url", description: "a postgres:// URL" },
  CLICKHOUSE_URL: { type: "string", format: "http-url", description: "an http:// or https:// URL" },
  KAFKA_BROKERS: { type: "string", format: "brokers", description: "host:port pairs separated by commas" },
  KAFKA_CLIENT_ID: { type: "string", format: "name", description: NAME },
  KAFKA_TOPIC_PREFIX: { type: "string", format: "name", description: NAME },
  KAFKA_PARTITIONS: { type: "string", format: "partitions", description: "a whole number from 1 to 10000" },
  KAFKA_REPLICATION_FACTOR: {
    type: "string",
    format: "replicas",
    description: "a whole number from 1 to 100",
  },
  KAFKA_SESSION_TIMEOUT_MS: {
    type: "string",
    format: "session",
    description: "a whole number of milliseconds from 1000 to 300000",
  },
  KAFKA_CREATE_TOPICS: { type: "string", enum: ["true", "false"], description: "true or false" },
  KAFKA_TLS: { type: "string", enum: ["true", "false"], description: "true or false" },
  KAFKA_TLS_CA: FILE,
  KAFKA_SASL_MECHANISM: {
    type: "string",
    enum: SASL_MECHANISMS,
    description: `one of ${SASL_MECHANISMS.join(", ")}`,
  },
  KAFKA_SASL_USERNAME: { type: "string", format: "text", description: "a user name" },
  KAFKA_SASL_PASSWORD: { type: "string", format: "password", description: "a password" },
  LOG_CODEC: { type: "string", enum: CODECS, description: `one of ${CODECS.join(", ")}` },
  SECRET_KEY: { type: "string", format: "secret-key", description: "32 bytes in base64 (44 characters)" },
  ENRICH_WORKERS: { type: "string", format: "workers", description: "a whole number from 1 to 256" },
  IMPORT_BYTES_MAX: {
    type: "string",
    format: "bytes",
    description: "a size such as 20GiB (a whole number, of bytes or followed by KiB, MiB, GiB or TiB)",
  },
  CITY_MMDB: FILE,
  ASN_DB: FILE,
  COMPANY_MMDB: FILE,
  FUNNEL_SCHEDULE: { type: "string", format: "cron", description: 'a cron expression such as "0 * * * *"' },
  WEBHOOK_ALLOW_PRIVATE_NETWORKS: { type: "string", enum: ["true", "false"], description: "true or false" },
  TRUSTED_PROXIES: {
    type: "string",
    format: "cidrs",
    description: "IP addresses or CIDR ranges separated by commas, such as 10.0.0.0/8",
  },
  CORS_ORIGINS: {
    type: "string",
    format: "origins",
    description: "* or origins separated by commas, such as https://dashboard.example",
  },
  COLLECT_HOST: { type: "string", format: "host", description: "a host name" },
  COLLECT_ALLOW_PRIVATE_UPSTREAMS: {
    type: "string",
    enum: ["true", "false"],
    description: "true or false",
  },
  LOG_LEVEL: { type: "string", enum: LOG_LEVELS, description: `one of ${LOG_LEVELS.join(", ")}` },
} as const satisfies Record<string, VariableSchema>;

export type VariableName = keyof typeof VARIABLES;
export type Variables = Partial<Record<VariableName, string>>;

/** One sentence for each variable that is not as the schema says; none when all are. */
export function variableFaults(variables: Variables): string[] {
  if (validate(variables)) return [];
  return (validate.errors ?? []).map((error) => faultSentence(variables, error));
}

const ajv = new Ajv({ allErrors: true, strict: false });
ajv.addFormat("text", (text) => text.trim() !== "");
ajv.addFormat("host", isHost);
ajv.addFormat("port", (text) => isWhole(text, { min: 0, max: 65535 }));
ajv.addFormat("workers", (text) => isWhole(text, { min: 1, max: 256 }));
ajv.addFormat("bytes", (text) => parseBytes(text) !== undefined);
ajv.addFormat("roles", (text) => items(text).length > 0 && unknownRoles(text).length === 0);
ajv.addFormat("postgres-url", (text) => isUrl(text, ["postgres:", "postgresql:"]));
ajv.addFormat("http-url", (text) => isUrl(text, ["http:", "https:"]));
ajv.addFormat("brokers", (text) => items(text).length > 0 && items(text).every(isBroker));
ajv.addFormat("name", (text) => /^[A-Za-z0-9._-]{1,100}$/.test(text));
ajv.addFormat("partitions", (text) => isWhole(text, { min: 1, max: 10_000 }));
ajv.addFormat("replicas", (text) => isWhole(text, { min: 1, max: 100 }));
ajv.addFormat("session", (text) => isWhole(text, { min: 1_000, max: 300_000 }));
ajv.addFormat("password", (text) => text !== "");
ajv.addFormat("secret-key", (text) => /^[A-Za-z0-9+/_-]{43}=?$/.test(text));
ajv.addFormat("cidrs", (text) => items(text).every(isCidr));
ajv.addFormat("origins", (text) => items(text).every(isOrigin));
ajv.addFormat("cron", isCron);

const validate = ajv.compile({
  type: "object",
  properties: VARIABLES,
  // A key made on one machine would leave a shared database unreadable to the next.
  dependencies: {
    DATABASE_URL: ["SECRET_KEY"],
    // Half of it would mean a connection that nobody wanted: without a password, or without encryption.
    KAFKA_SASL_MECHANISM: ["KAFKA_BROKERS", "KAFKA_SASL_USERNAME", "KAFKA_SASL_PASSWORD"],
    KAFKA_SASL_USERNAME: ["KAFKA_SASL_MECHANISM"],
    KAFKA_SASL_PASSWORD: ["KAFKA_SASL_MECHANISM"],
    KAFKA_TLS: ["KAFKA_BROKERS"],
    KAFKA_TLS_CA: ["KAFKA_BROKERS"],
  },
});

/** The entries of a comma-separated list, trimmed; empty ones do not count. */
export function items(text: string): string[] {
  return text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

function faultSentence(variables: Variables, error: ErrorObject): string {
  if (error.keyword === "dependencies") return missingSentence(error);
  const name = error.instancePath.slice(1) as VariableName;
  const schema: VariableSchema = VARIABLES[name];
  return `${name} must be ${schema.description}; it is ${shown(schema, variables[name] ?? "")}`;
}

function missingSentence({ params }: ErrorObject): string {
  const { property, missingProperty } = params as { property: string; missingProperty: VariableName };
  const { description } = VARIABLES[missingProperty];
  return `${missingProperty} must be set to ${description} when ${property} is set; it is not set`;
}

function shown({ format }: VariableSchema, value: string): string {
  if (format === "password") return "not shown";
  if (format === "secret-key") return `${value.length} characters long (not shown)`;
  if (format?.endsWith("-url")) return urlWithoutSecrets(value);
  if (format === "roles") return `"${value}" (not a role: ${unknownRoles(value).join(", ") || "nothing"})`;
  return `"${value}"`;
}

function urlWithoutSecrets(value: string): string {
  if (!URL.canParse(value)) return "not a URL (not shown, it may hold a password)";
  const { protocol, host, pathname } = new URL(value);
  return `"${protocol}//${host}${host === "" ? "..." : pathname}"`;
}

function unknownRoles(text: string): string[] {
  return items(text).filter((item) => !ROLES.some((role) => role === item));
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

function isBroker(text: string): boolean {
  const colon = text.lastIndexOf(":");
  return isHost(text.slice(0, colon)) && isWhole(text.slice(colon + 1), { min: 1, max: 65535 });
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
